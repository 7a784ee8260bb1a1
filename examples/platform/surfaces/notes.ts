import { escapeHtml } from './escape-html.js';
import { ActionRefused, type Fields, type Surface, type SurfaceView } from './surface.js';

const MAX_NOTE = 200;
const MAX_NOTES = 50;

/** Each caller's own notes; all visitors who are not signed in are one caller. */
export class Notes implements Surface {
  readonly id = 'notes';
  readonly name = 'my-notes';
  readonly title = 'My notes';
  readonly actions: Surface['actions'] = new Map([['add', (caller, fields) => this.#add(caller, fields)]]);
  readonly #notes = new Map<string, readonly string[]>();
  readonly #versions = new Map<string, number>();

  view(caller: string): SurfaceView {
    const notes = this.#notes.get(caller) ?? [];
    const list = notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('');
    const html = [
      '<section class="notes">',
      notes.length === 0 ? '<p class="empty">No notes yet.</p>' : `<ul>${list}</ul>`,
      '<form data-action="add">',
      `<label>New note <input name="text" maxlength="${MAX_NOTE}" autocomplete="off" required></label>`,
      '<button type="submit">Add</button>',
      '</form>',
      '</section>',
    ].join('');
    return { version: this.#versions.get(caller) ?? 1, html };
  }

  #add(caller: string, fields: Fields): string {
    const text = fields['text']?.trim() ?? '';
    if (text === '') throw new ActionRefused('Please write something first.');
    if (text.length > MAX_NOTE) throw new ActionRefused(`A note has at most ${MAX_NOTE} characters.`);
    this.#notes.set(caller, [...(this.#notes.get(caller) ?? []), text].slice(-MAX_NOTES));
    this.#versions.set(caller, (this.#versions.get(caller) ?? 1) + 1);
    return 'Your note is kept.';
  }

  readonly theme: string = `:host { --accent: #0f766e; --tint: #f0fdfa; }
.notes ul { margin: 0 0 0.75rem; padding-left: 1.25rem; }
.notes form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem; }
.notes label { flex: 1 1 10rem; }
.notes input { display: block; width: 100%; box-sizing: border-box; border: 1px solid var(--accent); background: var(--tint); color: inherit; }
.notes button { background: var(--accent); color: #fff; }
.notes .empty { color: #57534e; }
@media (prefers-color-scheme: dark) {
  :host { --accent: #2dd4bf; --tint: #042f2e; }
  .notes button { color: #042f2e; }
  .notes .empty { color: #d6d3d1; }
}
`;
}
