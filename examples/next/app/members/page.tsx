import { A2AChat } from 'agent-bff-react';
import { auth0 } from '../../lib/auth0';

export default async function Page() {
  const session = await auth0.getSession();
  if (session === null) {
    return (
      <main>
        <h1>Members</h1>
        {/* No <Link>: the route redirects to another site. */}
        <a href="/auth/login?returnTo=/members">Sign in</a>
      </main>
    );
  }
  return (
    <main>
      <h1>Hello, {session.user.name ?? session.user.sub}</h1>
      <p>
        <a href="/auth/logout">Sign out</a>
      </p>
      <div className="chat">
        <A2AChat
          a2aEndpoint="/members/api/a2a"
          serviceBaseUrl="/api/service"
          user={{ name: session.user.name, picture: session.user.picture }}
        />
      </div>
    </main>
  );
}
