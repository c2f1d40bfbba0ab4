/** The door: asks for the token, and says where it is. */
import { type FormEvent, useState } from 'react';
import { tokenIn } from '../host/token.js';
import { Mark } from '../ui/mark.js';

interface Props {
  /** A token was tried and is not (or no longer) the right one. */
  readonly hadToken: boolean;
  readonly onToken: (token: string) => void;
}

export function TokenForm({ hadToken, onToken }: Props) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const token = tokenIn(text);
    if (token !== '') onToken(token);
  };
  return (
    <main className="door">
      <form onSubmit={submit} aria-labelledby="door-title">
        <Mark />
        <h1 id="door-title">{hadToken ? 'The host has another token' : 'This host asks for a token'}</h1>
        <p>
          {hadToken
            ? 'It was probably started again: each start makes a new token. Paste the new one, or open the new link.'
            : 'The token shows that you may use this machine. It stays in this tab.'}
        </p>
        <label htmlFor="token">Token, or the link that the host printed</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="primary">
          Connect
        </button>
        <h2>Where is it?</h2>
        <ul>
          <li>
            In the terminal where <code>npm start</code> runs: open the link after <b>Open</b>.
          </li>
          <li>
            In the file named after <b>Token</b> there, usually <code>~/.local/share/atrium/connection-token</code>.
          </li>
        </ul>
      </form>
    </main>
  );
}
