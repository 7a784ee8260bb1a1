import { useEffect, useState } from 'react';

import { callSite } from './site-call';

interface Credential {
  readonly broken: boolean;
}

/** Breaks the site's signing key, to show what visitors see then, and repairs it. */
export function CredentialSwitch() {
  const [broken, setBroken] = useState(false);
  const [isBusy, setBusy] = useState(true);
  const [failure, setFailure] = useState('');

  const exchange = async (body?: Credential): Promise<void> => {
    setBusy(true);
    setFailure('');
    try {
      setBroken((await callSite<Credential>('/demo/credential', body)).broken);
    } catch {
      setFailure('The site does not answer. Is it still running?');
      if (body !== undefined) setBroken(!body.broken);
    }
    setBusy(false);
  };
  // Shows the requested state immediately. The button is not disabled meanwhile, which would lose the focus.
  const change = (wanted: boolean): void => {
    if (isBusy) return;
    setBroken(wanted);
    void exchange({ broken: wanted });
  };
  useEffect(() => void exchange(), []);

  return (
    <section className="card credential" aria-labelledby="credential-title">
      <h2 id="credential-title" className="hidden">
        The site’s credential
      </h2>
      <label className="switch">
        <input
          type="checkbox"
          role="switch"
          aria-busy={isBusy}
          checked={broken}
          onChange={(event) => change(event.currentTarget.checked)}
        />
        Break the credential
      </label>
      <p className="quiet">Then send a message: visitors get a hint for the site’s operator.</p>
      <p role="alert">{failure}</p>
    </section>
  );
}
