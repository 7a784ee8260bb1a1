import type { User } from './session';

const PAGES = [
  { path: '/', title: 'Chat' },
  { path: '/floating', title: 'Floating' },
];

interface HeaderProps {
  readonly user: User | null | undefined;
  readonly pathname: string;
}

/** The name of the site, its pages, and the signed-in user. */
export function Header({ user, pathname }: HeaderProps) {
  return (
    <header className="site-header">
      <a className="site-name" href="/">
        <svg aria-hidden="true" viewBox="0 0 24 24" width="24" height="24" fill="currentColor">
          <path d="M12 1.5c.9 6 4.6 9.7 10.5 10.5C16.6 12.9 12.9 16.6 12 22.5 11.1 16.6 7.4 12.9 1.5 12 7.4 11.2 11.1 7.5 12 1.5Z" />
        </svg>
        <span>agent-bff demo</span>
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ path, title }) => (
          <a key={path} href={path} aria-current={path === pathname ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div className="site-user">
        {user === null && (
          <>
            <span className="site-user-label">Sign in as</span>
            <a className="button" href="/auth/login?user=ada">
              Ada
            </a>
            <a className="button" href="/auth/login?user=grace">
              Grace
            </a>
          </>
        )}
        {user && (
          <>
            <img src={user.picture} alt="" width="28" height="28" />
            <span className="site-user-label">{user.name}</span>
            <form method="post" action="/auth/logout">
              <button type="submit" className="button">
                Sign out
              </button>
            </form>
          </>
        )}
      </div>
    </header>
  );
}
