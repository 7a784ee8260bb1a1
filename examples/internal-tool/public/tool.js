const signIn = document.getElementById('sign-in');
const ask = document.getElementById('ask');
const answer = document.getElementById('answer');
const error = document.getElementById('error');

/** In memory only: after a reload, the user signs in again. */
let token;

signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(async () => {
    token = await requestToken(new FormData(signIn));
    signIn.reset();
    show(ask);
  });
});

ask.addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(async () => {
    answer.textContent = await send(new FormData(ask).get('message'));
    ask.reset();
  });
});

/** Calls the identity provider directly; the server of this page never sees the password. */
async function requestToken(form) {
  const settings = await (await fetch('/settings.json')).json();
  const response = await fetch(settings.tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: settings.clientId,
      audience: settings.audience,
      username: form.get('username'),
      password: form.get('password'),
    }),
  });
  if (!response.ok) throw new Error('User name or password is wrong.');
  return (await response.json()).access_token;
}

async function send(text) {
  const response = await fetch('/api/a2a', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'SendMessage',
      params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } },
    }),
  });
  if (response.status === 401) {
    token = undefined;
    show(signIn);
    throw new Error('Please sign in again.');
  }
  const { result, error: failure } = await response.json();
  if (failure !== undefined) throw new Error(failure.message);
  const { message, task } = result;
  const parts = message?.parts ?? task?.artifacts?.flatMap((artifact) => artifact.parts) ?? [];
  return parts.map((part) => part.text ?? '').join('');
}

function show(form) {
  signIn.hidden = form !== signIn;
  ask.hidden = form !== ask;
}

async function attempt(work) {
  error.textContent = '';
  try {
    await work();
  } catch (cause) {
    error.textContent = cause.message;
  }
}
