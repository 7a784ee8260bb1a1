import { A2AChat, A2AChatFloating, type A2AChatProps } from 'agent-bff-react';
import { CredentialSwitch } from './credential-switch';
import { Header } from './header';
import { Hits } from './hits';
import { NotesCard, PollCard } from './widgets';
import { type User, useSignedInUser } from './session';

const PROMPTS = [
  'What happens to my message?',
  'Show me a list and some code',
  'Count slowly, and I will stop you',
  'Ask me something',
];

/** The site serves this page for every path, so the path is evaluated here. */
export function App() {
  const user = useSignedInUser();
  const { pathname } = window.location;
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Header user={user} pathname={pathname} />
      <main id="main" tabIndex={-1}>
        {user !== undefined && <Content pathname={pathname} chat={chatProps(user)} />}
      </main>
    </>
  );
}

/** The props that depend on the visitor: their avatar, and their conversations, which require a session. */
function chatProps(user: User | null): A2AChatProps {
  const common = { panelTitle: 'Demo agent', suggestedPrompts: PROMPTS };
  return user === null ? common : { ...common, user, serviceBaseUrl: '/api/service' };
}

function Cards() {
  return (
    <div className="cards">
      <PollCard />
      <Hits />
      <NotesCard />
    </div>
  );
}

function Content({ pathname, chat }: { readonly pathname: string; readonly chat: A2AChatProps }) {
  switch (pathname) {
    case '/':
      return (
        <div className="with-chat">
          <div className="intro">
            <h1>A website with an agent</h1>
            <p>
              Chat and widgets go through this site’s own server, which adds the credential: your browser never holds
              one.
            </p>
          </div>
          <CredentialSwitch />
          <div className="chat-place">
            <A2AChat {...chat} />
          </div>
          <Cards />
        </div>
      );
    case '/floating':
      return (
        <div className="with-floating-chat">
          <h1>The chat in a corner</h1>
          <p className="lead">
            The same chat behind a button, for pages that are about something else. It opens over the page, closes with
            Escape and keeps its conversation.
          </p>
          <CredentialSwitch />
          <Cards />
          <A2AChatFloating {...chat} fabClassName="demo-fab" />
        </div>
      );
    default:
      return (
        <div className="with-floating-chat">
          <h1>There is no such page</h1>
          <p className="lead">
            <a href="/">Back to the chat</a>
          </p>
        </div>
      );
  }
}
