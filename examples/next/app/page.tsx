import { A2AChat } from 'agent-bff-react';

export default function Page() {
  return (
    <main>
      <h1>Ask the agent</h1>
      <p>
        All visitors can chat here. <a href="/members">Members</a> chat in their own name.
      </p>
      <div className="chat">
        <A2AChat suggestedPrompts={['What can you do?']} />
      </div>
    </main>
  );
}
