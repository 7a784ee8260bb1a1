import { escapeHtml } from './escape-html.js';
import { ActionRefused, type Fields, type Surface, type SurfaceView } from './surface.js';

const MAX_QUESTION = 120;

interface Choice {
  readonly value: string;
  readonly label: string;
  votes: number;
}

/** One poll for all callers. */
export class Poll implements Surface {
  readonly id = 'poll';
  readonly name = 'lunch-poll';
  readonly title = 'Lunch poll';
  readonly actions: Surface['actions'] = new Map([['vote', (_caller, fields) => this.#vote(fields)]]);
  readonly #choices: readonly Choice[] = [
    { value: 'pizza', label: 'Pizza', votes: 0 },
    { value: 'salad', label: 'Salad', votes: 0 },
    { value: 'soup', label: 'Soup', votes: 0 },
  ];
  #question = 'What shall we have for lunch?';
  #version = 1;

  /** Changes the question, like an editor of the platform. Throws RangeError if it is empty or longer than 120 characters. */
  setQuestion(text: string): void {
    const question = text.trim();
    if (question === '' || question.length > MAX_QUESTION) {
      throw new RangeError(`A question has 1 to ${MAX_QUESTION} characters.`);
    }
    this.#question = question;
    this.#version += 1;
  }

  view(): SurfaceView {
    const votes = this.#choices.reduce((sum, choice) => sum + choice.votes, 0);
    const html = [
      '<section class="poll">',
      `<h3>${escapeHtml(this.#question)}</h3>`,
      '<ul>',
      ...this.#choices.map(choiceMarkup),
      '</ul>',
      `<p class="total">${votes === 1 ? '1 vote' : `${votes} votes`}</p>`,
      '</section>',
    ].join('');
    return { version: this.#version, html };
  }

  #vote({ choice }: Fields): string {
    const chosen = this.#choices.find(({ value }) => value === choice);
    if (chosen === undefined) throw new ActionRefused('This is not on the menu.');
    chosen.votes += 1;
    this.#version += 1;
    return 'Thank you.';
  }

  readonly theme: string = `:host { --accent: #c2410c; --tint: #fff7ed; }
.poll ul { display: grid; gap: 0.5rem; margin: 0; padding: 0; list-style: none; }
.poll button { display: flex; justify-content: space-between; width: 100%; border: 1px solid var(--accent); background: var(--tint); color: #7c2d12; }
.poll button:hover { background: var(--accent); color: #fff; }
.poll .total { color: #57534e; font-size: 0.875rem; }
@media (prefers-color-scheme: dark) {
  :host { --accent: #fb923c; --tint: #431407; }
  .poll button { color: #ffedd5; }
  .poll button:hover { color: #431407; }
  .poll .total { color: #d6d3d1; }
}
`;
}

function choiceMarkup({ value, label, votes }: Choice): string {
  const button = `<button type="button" data-action="vote" name="choice" value="${value}">`;
  return `<li>${button}<span>${label}</span> <span class="votes">${votes}</span></button></li>`;
}
