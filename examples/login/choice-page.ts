import { PEOPLE } from './people.js';

/** The page on which a visitor chooses who to sign in as. */
export function choicePage(action: string): string {
  const buttons = PEOPLE.map(({ id, name }) => `<button name="person" value="${id}">${name}</button>`).join(
    '\n        ',
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Sign in</title>
    <style>
      body { display: grid; min-height: 90vh; place-content: center; margin: 0; font: 1.0625rem/1.5 system-ui, sans-serif; }
      main { width: min(22rem, 90vw); }
      form { display: grid; gap: 0.75rem; }
      button { padding: 0.75rem 1rem; border: 1px solid currentColor; border-radius: 0.75rem; background: none; color: inherit; font: inherit; cursor: pointer; }
      button:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
    </style>
  </head>
  <body>
    <main>
      <h1>Who are you?</h1>
      <p>This page stands for the sign-in of an identity provider. It asks for no password.</p>
      <form method="post" action="${action}">
        ${buttons}
      </form>
    </main>
  </body>
</html>
`;
}
