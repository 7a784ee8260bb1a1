// A lint rule: every regular expression must take linear time for any text. Backtracking takes quadratic time or worse,
// and the text often comes from strangers.
import { analyse } from 'scslre';

const HINT = 'anchor it, make its parts exclude each other, or read the text without a pattern';

const rule = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const check = (node, source, flags) => {
      let reports;
      try {
        ({ reports } = analyse({ source, flags }, { maxReports: 1, reportTypes: { Move: true } }));
      } catch (error) {
        context.report({ node, message: `Cannot analyse this pattern: ${error.message}` });
        return;
      }
      for (const { exponential, character } of reports) {
        const { source: repeated, flags: repeatedFlags } = character.literal;
        const growth = exponential ? 'exponentially' : 'by the square';
        context.report({ node, message: `Time grows ${growth} with a run of /${repeated}/${repeatedFlags}: ${HINT}.` });
      }
    };
    return {
      Literal(node) {
        if (node.regex !== undefined) check(node, node.regex.pattern, node.regex.flags);
      },
    };
  },
};

export default { meta: { name: 'patterns' }, rules: { linear: rule } };
