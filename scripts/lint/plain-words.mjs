// A lint rule for comments: the part of docs/words.md that a pattern can check.
const QUESTION =
  /^(?:What|Whether|Where|How|Which|Who|Whose|Whom|(?:Says|Tells) (?:what|whether|where|how|which|who))\b/;
const AVOIDED =
  /\b(?:anew|(?:any|every|no|some)body|whoever|for ever|take[ns]? for|told|tells?|is said|house|papers)\b/i;
/** A page that readers of the package cannot open. RFCs and the pages of `docs` can be. */
const ELSEWHERE = /\bspec §/;

const rule = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const text = comment.value.replace(/^\*?\s*(?:\* )?/, '');
          const word =
            (comment.value.startsWith('*') && QUESTION.exec(text)?.[0]) ||
            (AVOIDED.exec(text) ?? ELSEWHERE.exec(text))?.[0];
          if (word) context.report({ node: comment, message: `"${word}": see the rules in docs/words.md.` });
        }
      },
    };
  },
};

export default { meta: { name: 'words' }, rules: { plain: rule } };
