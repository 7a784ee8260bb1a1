import { type FormEvent, type RefObject, useRef, useState } from 'react';

import { ServiceSurface, type ServiceSurfaceHandle } from 'agent-bff-react';
import { callSite } from './site-call';

/** A widget by its id, and the action of its editor on the platform. */
export function PollCard() {
  const surface = useRef<ServiceSurfaceHandle>(null);
  const [message, setMessage] = useState('');

  const save = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = new FormData(form).get('text');
    try {
      await callSite('/demo/widgets/poll/question', { text });
      form.reset();
      setMessage('Saved on the platform. The site shows it once its stored render is older than three seconds.');
    } catch {
      setMessage('The question could not be saved.');
    }
  };

  return (
    <section className="card" aria-labelledby="poll-title">
      <header>
        <h2 id="poll-title">
          Widget by id <code>poll</code>
        </h2>
        <RenderButton surface={surface} name="the poll" />
      </header>
      <ServiceSurface surfaceId="poll" ref={surface} />
      <details>
        <summary>Edit this widget on the platform</summary>
        <form className="edit-form" onSubmit={(event) => void save(event)}>
          <label htmlFor="poll-question">New question</label>
          <div className="edit-row">
            <input id="poll-question" name="text" required maxLength={120} autoComplete="off" />
            <button type="submit" className="button">
              Save
            </button>
          </div>
          <p role="status" className="quiet">
            {message}
          </p>
        </form>
      </details>
    </section>
  );
}

/** A widget by its name, with content of its visitor. */
export function NotesCard() {
  const surface = useRef<ServiceSurfaceHandle>(null);
  return (
    <section className="card" aria-labelledby="notes-title">
      <header>
        <h2 id="notes-title">
          Widget by name <code>my-notes</code>
        </h2>
        <RenderButton surface={surface} name="the notes" />
      </header>
      <ServiceSurface name="my-notes" ref={surface} />
    </section>
  );
}

interface RenderButtonProps {
  readonly surface: RefObject<ServiceSurfaceHandle | null>;
  readonly name: string;
}

function RenderButton({ surface, name }: RenderButtonProps) {
  return (
    <button
      type="button"
      className="button"
      aria-label={`Render again: ${name}`}
      onClick={() => void surface.current?.refresh()}
    >
      Render again
    </button>
  );
}
