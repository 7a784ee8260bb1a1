export interface EverydayAnswer {
  readonly about: string;
  readonly text: string;
  /** Why the chat reads it in another way than the other readers. */
  readonly differs?: string;
}

const CJK = 'marks beside Chinese, Japanese and Korean need no spaces';
const ADDRESS = 'an address ends before other scripts, quotes and brackets of the text around';
const HTML = 'formatting tags and anchors of HTML are read';
const TEX = 'a formula of TeX keeps its backslashes and marks';

/** A presigned address of 4,000 characters. */
export const PRESIGNED = `https://bucket.example/report.pdf?X-Amz-Signature=${'0123456789abcdef'.repeat(250)}&X-Amz-Expires=3600`;

/** Answers as language models write them. `differs` gives the reason if another reader shows something else. */
export const EVERYDAY_ANSWERS: readonly EverydayAnswer[] = [
  { about: 'a paragraph', text: 'Sure! Here is a short answer.\n\nIt has **two** paragraphs and one *emphasis*.' },
  { about: 'a list', text: 'You need:\n\n- flour\n- water\n- salt\n\nThen mix.' },
  { about: 'a list right below its sentence', text: 'You need:\n- flour\n- water\n\nThen mix.' },
  { about: 'children at two spaces', text: '- Fruit\n  - Apple\n  - Pear\n- Bread\n  - Rye' },
  { about: 'children at three spaces', text: '1. Open the app\n   - on Android\n   - on iOS\n2. Sign in' },
  { about: 'children at four spaces', text: '- Fruit\n    - Apple\n    - Pear\n- Bread\n    - Rye' },
  { about: 'a third level at eight spaces', text: '- a\n    - b\n        - c\n        - d\n    - e\n- f' },
  { about: 'a third level at four spaces', text: '- a\n  - b\n    - c\n  - d\n- e' },
  { about: 'an indented numbered list', text: 'Steps:\n\n   1. Open it\n   2. Close it\n   3. Wait' },
  {
    about: 'numbers with children at four spaces',
    text: '1. One\n    - a\n    - b\n2. Two\n    - c\n10. Ten\n    - d',
  },
  {
    about: 'an item of several paragraphs',
    text: '1. **First**\n\n   Some words.\n\n   More words.\n\n2. **Second**\n\n   End.',
  },
  {
    about: 'an item with code',
    text: '1. Install:\n\n   ```bash\n   npm install agent\n   ```\n\n2. Run:\n\n   ```bash\n   npm start\n   ```',
  },
  { about: 'an item with code at four spaces', text: '- Install:\n\n    ```bash\n    npm i\n    ```\n\n- Done' },
  { about: 'code right below an item', text: '1. Run this:\n   ```sh\n   ls -la\n   ```\n2. Look.' },
  { about: 'a list that begins with another number', text: 'Continue:\n\n5. five\n6. six\n7. seven' },
  { about: 'numbers with brackets', text: '1) one\n2) two\n\nand\n\n1. three' },
  { about: 'stars and pluses', text: '* one\n* two\n\n+ three\n+ four' },
  { about: 'bold beginnings of items', text: '- **Price:** 20 €\n- **Delivery:** 3 days\n- **Returns:** 30 days' },
  {
    about: 'headings',
    text: '# Guide\n\n## Setup\n\nText.\n\n### Details ###\n\nMore.\n\nOld style\n---------\n\nEnd.',
  },
  { about: 'a rule between sections', text: 'One\n\n---\n\nTwo\n\n***\n\nThree' },
  { about: 'a quotation', text: '> To be, or not to be.\n>\n> — *Hamlet*\n\nThat is the question.' },
  { about: 'a quotation with a list', text: '> Note:\n> - one\n> - two\n>\n> End of note.' },
  { about: 'a lazy quotation', text: '> It goes on\nin the next line.\n\nOutside.' },
  {
    about: 'code with a language',
    text: 'Use this:\n\n```python\ndef f(x):\n    return x ** 2  # **not bold**\n```\n\nDone.',
  },
  { about: 'code with blank lines', text: '```js\nconst a = 1;\n\n\nconst b = 2;\n```' },
  { about: 'code with tabs', text: '```make\nall:\n\tgcc -o a a.c\n\t./a\n```' },
  { about: 'Markdown in code', text: '````markdown\n# Title\n\n```js\nlet a;\n```\n````\n\nThat was it.' },
  { about: 'code with tildes', text: '~~~\nplain `text`\n~~~' },
  { about: 'indented code', text: 'Run:\n\n    make\n    make install\n\nDone.' },
  { about: 'code in a sentence', text: 'Set `PORT=3000` and call ``a`b`` or `` `x` ``, not `  `.' },
  { about: 'names with underscores', text: 'Call my_function_name with some_arg and __init__ or *args* and 2*3*4.' },
  {
    about: 'nested emphasis',
    text: '***Important*** and **bold with *light* inside** and *light with **bold** inside*.',
  },
  { about: 'emphasis in a word', text: 'un*frigging*believable, **bold**ness and (**bold**), "*quoted*".' },
  { about: 'stars of a calculation', text: '3 * 4 = 12, 5*6=30 and a ** b ** c.' },
  {
    about: 'links',
    text: 'See [the docs](https://docs.example/a_(b)?c=d#e "Docs"), or [mail us](mailto:help@example.com).',
  },
  { about: 'a link with marks', text: '[**Bold** and `code`](https://x.example/a?b=c&d=e) and <https://y.example>.' },
  {
    about: 'references',
    text: 'Read [the guide][1] and [FAQ].\n\n[1]: https://x.example/guide "The guide"\n[FAQ]: <https://x.example/faq>',
  },
  { about: 'footnote-like references', text: 'It is true [1].\n\n[1]: https://x.example/source' },
  { about: 'an image', text: 'Look: ![A cat](https://x.example/cat.png "Cat") — nice.' },
  { about: 'line breaks', text: 'Jane Doe  \nMain Street 1\\\nLondon\n\nRegards' },
  { about: 'escapes', text: '\\*not bold\\*, 1\\. no list, \\# no heading, C:\\\\temp and \\[brackets].' },
  { about: 'entities', text: 'Tom &amp; Jerry &lt;3 &copy; 2024&nbsp;&mdash; 5 &gt; 3, AT&T, R&D.' },
  { about: 'prices', text: 'It costs $5 and $10, or 100% of 20 #1 items & more_or_less ~ 5.' },
  { about: 'a number at the start of a line', text: 'The war ended in\n1945. It was over.\n\n1945\\. That year.' },
  { about: 'dashes below a sentence', text: 'Total\n=====\n\nSum - of - all\n\n- - -' },
  { about: 'emoji', text: '✅ **Done**\n\n🚀 Launch:\n- 👍 yes\n- 👎 no' },
  { about: 'brackets that are no link', text: 'Use a[0] and b[i](j) or [x] and [ ] and [a][b].' },
  {
    about: 'a table',
    text: 'Prices:\n\n| Item | Price | Note |\n|:-----|------:|:----:|\n| Pen | 1.20 | **new** |\n| Cup | 12.00 | `sale` |\n\nEnd.',
  },
  { about: 'a table without edges', text: 'a | b\n--|--\n1 | 2\n3 | 4 \\| 5' },
  {
    about: 'a table with missing and surplus cells',
    text: '| a | b |\n| - | - |\n| 1 |\n| 1 | 2 | 3 |\n| `x \\| y` | z |',
  },
  { about: 'a table in an item', text: '- Prices:\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n- End' },
  { about: 'a task list', text: '- [x] Write\n- [ ] Test\n  - [ ] unit\n  - [X] e2e\n- no [ ] task' },
  { about: 'strikethrough', text: 'Was ~~20 €~~ **15 €**, a~b and 3~5 days, ~/home and ~~ no.' },
  { about: 'Korean tildes', text: '배송 3~5일, 교환 7~10일, 반품 1~2주.' },
  {
    about: 'bare addresses',
    text: 'See https://x.example/a?b=c&d=e, (http://y.example/z_(1)), or mail help@x.example. Thanks!',
  },
  { about: 'a presigned link', text: `Your file: [report.pdf](${PRESIGNED}) (valid for an hour).` },
  { about: 'a bare presigned link', text: `Your file:\n\n${PRESIGNED}\n\nIt is valid for an hour.` },
  {
    about: 'JSON in a sentence',
    text: 'It returned {"url":"https://x.example/a","id":7} and ["https://y.example"].',
    differs: ADDRESS,
  },
  { about: 'Chinese bold', text: '**注意：**请先登录。**“重要”**的事情说*三*遍。', differs: CJK },
  {
    about: 'a Chinese list',
    text: '1. **准备**：\n    - 身份证\n    - 护照\n2. **提交**，等待3天。\n\n> 提示：请勿*重复*提交。',
  },
  { about: 'a Chinese address', text: '请访问https://x.example/帮助，或“https://y.example”。', differs: ADDRESS },
  { about: 'Japanese', text: '## 手順\n\n1. 設定を開く\n2. 「**保存**」を押す\n\n`npm start`を実行します。' },
  { about: 'Arabic', text: '# مرحبا\n\nشغّل `--port=3000` ثم **أعد** المحاولة:\n\n- أولا\n- ثانيا' },
  { about: 'Hebrew and English', text: 'שלום **עולם**\n\nHello *world*\n\n1. אחת\n2. two' },
  {
    about: 'TeX',
    text: 'The area is \\(a_1 * b_1 * c\\) and\n\n\\[\nx = \\frac{-b}{2a} \\\\ y_1 = y_2\n\\]\n\nDone.',
    differs: TEX,
  },
  {
    about: 'tags of HTML',
    text: 'Press <b>Ctrl</b> + <kbd>C</kbd>.<br>Then <a href="https://x.example">read on</a>.',
    differs: HTML,
  },
  { about: 'generic types', text: 'A `Map<string, number>` or Array<T>, with a < b and c > d; if (x<y && y>z) stop.' },
];
