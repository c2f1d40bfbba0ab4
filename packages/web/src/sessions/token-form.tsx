/** Asks for the token, and says where to find it. */
import { isShortCode, readDeviceLink } from '@atrium/protocol/ahp-1';
import { type FormEvent, useState } from 'react';
import type { Refusal } from '../host/link.js';
import { redeemCode, tokenIn } from '../host/token.js';
import { Mark } from '../ui/icons.js';

interface Props {
  readonly why: Refusal;
  readonly onToken: (token: string) => void;
}

const TITLES: Readonly<Record<Refusal, string>> = {
  missing: 'This host asks for a token',
  refused: 'The host refused this token',
  changed: 'The host has another token',
  removed: 'This device is not let in any more',
};
const ADVICE: Readonly<Record<Refusal, string>> = {
  missing: 'The token shows that you may use this machine. This browser keeps it, where no script can read it.',
  refused: 'It is not the right one, or not whole. Copy it again from one of the places below, and paste it here.',
  changed: 'It was started with a new one. Paste that one, or open the new link.',
  removed: 'Somebody removed it, or its time is over. Ask the owner of the host for a new code.',
};

export function TokenForm({ why, onToken }: Props) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const join = async (digits: string) => {
    const refused = await redeemCode(digits);
    if (refused === undefined) location.replace('/');
    else setProblem(refused);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const link = readDeviceLink(text);
    if (link) return void location.assign(new URL(text.trim()).hash);
    const digits = text.replaceAll(/\s/g, '');
    if (isShortCode(digits)) return void join(digits);
    const token = tokenIn(text);
    if (token !== '') onToken(token);
  };
  return (
    <main className="connect-screen">
      <form onSubmit={submit} aria-labelledby="connect-title">
        <Mark />
        <h1 id="connect-title">{TITLES[why]}</h1>
        <p role={why === 'missing' ? undefined : 'alert'}>{ADVICE[why]}</p>
        <label htmlFor="token">Token, link, or the eight digits of a code</label>
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
        {problem !== '' && <p role="alert">{problem}</p>}
        <h2>Where is it?</h2>
        <ul>
          <li>
            In the terminal where <code>npm start</code> runs: open the link after <b>Open</b>.
          </li>
          <li>
            On a device that is in already: <b>Devices</b>, then <b>Add a device</b>.
          </li>
          <li>
            In the file named after <b>Token</b> there, usually <code>~/.local/share/atrium/connection-token</code>.
          </li>
        </ul>
      </form>
    </main>
  );
}
