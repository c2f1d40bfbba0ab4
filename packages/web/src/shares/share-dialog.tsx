/** Makes a link that shows a session to others, and lists and ends existing ones. */
import {
  END_SHARE_METHOD,
  LEFT_OUT,
  LEFT_OUT_WORDS,
  type LeftOut,
  type MadeShare,
  SHARE_METHOD,
  SHARES_METHOD,
  type Share,
  type ShareList,
  shareLink,
  withImplied,
} from '@atrium/protocol/ahp-1';
import { useCallback, useEffect, useId, useState } from 'react';
import { OnlyHere } from '../devices/only-here.js';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { plural } from '../model/format.js';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import './shares.css';

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { hours: 1, text: 'One hour' },
  { hours: 24, text: 'A day' },
  { hours: 7 * 24, text: 'A week' },
  { hours: 30 * 24, text: '30 days' },
] as const;

interface Props {
  readonly session: string;
  readonly onClose: () => void;
}

export function ShareDialog({ session, onClose }: Props) {
  const { client } = useHost();
  const [shares, setShares] = useState<readonly Share[]>([]);
  const [made, setMade] = useState<MadeShare>();
  const [problem, setProblem] = useState<string>();
  const ask = useCallback(
    async (method: string, params: object): Promise<unknown> => {
      try {
        setProblem(undefined);
        return await client.request(method as never, params as never);
      } catch (error) {
        setProblem(problemText(error));
        return undefined;
      }
    },
    [client],
  );
  const look = useCallback(async () => {
    const list = (await ask(SHARES_METHOD, { session })) as ShareList | undefined;
    if (list) setShares(list.items);
  }, [ask, session]);
  useEffect(() => void look(), [look]);
  const make = async (hours: number, leftOut: readonly LeftOut[]) => {
    const until = new Date(Date.now() + hours * HOUR_MS).toISOString();
    setMade((await ask(SHARE_METHOD, { session, until, leftOut })) as MadeShare | undefined);
    await look();
  };
  const end = async (id: string) => {
    await ask(END_SHARE_METHOD, { id });
    if (made?.id === id) setMade(undefined);
    await look();
  };
  return (
    <Dialog title="Share this session" className="share-dialog" onClose={onClose}>
      <p>Everybody with the link can read this session live. They can change nothing, and see nothing else.</p>
      <OnlyHere address={location.origin} />
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {made ? <MadeLink share={made} /> : <ShareForm onMake={(hours, leftOut) => void make(hours, leftOut)} />}
      {shares.length > 0 && <ShareRows shares={shares} onEnd={(id) => void end(id)} />}
    </Dialog>
  );
}

function ShareForm({ onMake }: { readonly onMake: (hours: number, leftOut: readonly LeftOut[]) => void }) {
  const [hours, setHours] = useState<number>(24);
  const [chosen, setChosen] = useState<readonly LeftOut[]>([]);
  const leftOut = withImplied(chosen);
  const id = useId();
  const toggle = (what: LeftOut) =>
    setChosen(chosen.includes(what) ? chosen.filter((each) => each !== what) : [...chosen, what]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onMake(hours, leftOut);
      }}
    >
      <label htmlFor={id}>It ends after</label>{' '}
      <select id={id} value={hours} onChange={(event) => setHours(Number(event.target.value))}>
        {LENGTHS.map(({ hours: value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <fieldset>
        <legend>Leave out</legend>
        {LEFT_OUT.map((what) => (
          <label key={what}>
            <input
              type="checkbox"
              checked={leftOut.includes(what)}
              disabled={leftOut.includes(what) && !chosen.includes(what)}
              onChange={() => toggle(what)}
            />{' '}
            {LEFT_OUT_WORDS[what]}
          </label>
        ))}
      </fieldset>
      <button type="submit" className="primary">
        Make a link
      </button>
    </form>
  );
}

function MadeLink({ share }: { readonly share: MadeShare }) {
  const link = shareLink(location.origin, share.token);
  return (
    <div className="share-link" role="status">
      <code>{link}</code>
      <CopyButton text={link} what="the link" />
    </div>
  );
}

function ShareRows({ shares, onEnd }: { readonly shares: readonly Share[]; readonly onEnd: (id: string) => void }) {
  return (
    <ul aria-label="Shares of this session">
      {shares.map(({ id, expiresAt, viewers, leftOut }) => (
        <li key={id}>
          <span>
            Until {new Date(expiresAt).toLocaleString()} · {plural(viewers, 'reader')}
            {leftOut.length > 0 && ` · without ${leftOut.map((what) => LEFT_OUT_WORDS[what]).join(', ')}`}
          </span>
          <button type="button" className="small" onClick={() => onEnd(id)}>
            End it
          </button>
        </li>
      ))}
    </ul>
  );
}
