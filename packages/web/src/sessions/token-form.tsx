/** Asks for the token, and says where to find it. */
import { type FormEvent, useState } from 'react';
import type { Refusal } from '../host/link.js';
import { tokenIn } from '../host/token.js';
import { Mark } from '../ui/icons.js';

interface Props {
  readonly why: Refusal;
  readonly onToken: (token: string) => void;
}

const TITLES: Readonly<Record<Refusal, string>> = {
  missing: 'This host asks for a token',
  refused: 'The host refused this token',
  changed: 'The host has another token',
};
const ADVICE: Readonly<Record<Refusal, string>> = {
  missing: 'The token shows that you may use this machine. It stays in this tab.',
  refused: 'It is not the right one, or not whole. Copy it again from one of the places below, and paste it here.',
  changed: 'It was started with a new one. Paste that one, or open the new link.',
};

export function TokenForm({ why, onToken }: Props) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const token = tokenIn(text);
    if (token !== '') onToken(token);
  };
  return (
    <main className="connect-screen">
      <form onSubmit={submit} aria-labelledby="connect-title">
        <Mark />
        <h1 id="connect-title">{TITLES[why]}</h1>
        <p role={why === 'missing' ? undefined : 'alert'}>{ADVICE[why]}</p>
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
