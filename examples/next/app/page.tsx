import { Chat } from '../components/chat';

export default function Page() {
  return (
    <main>
      <h1>Ask the agent</h1>
      <p>
        Everybody may chat here. <a href="/members">Members</a> chat in their own name.
      </p>
      <Chat endpoint="/api/a2a" />
    </main>
  );
}
