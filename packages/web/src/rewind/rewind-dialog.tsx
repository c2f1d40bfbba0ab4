/** Going back to a message: shows what would change, and lets the person choose. Nothing changes before. */
import {
  type ChatState,
  REWIND_METHOD,
  REWIND_PREVIEW_METHOD,
  type RewindKind,
  type RewindParams,
  type RewindPreview,
  type RewindResult,
  visibleText,
} from '@atrium/protocol/ahp-1';
import { useEffect, useId, useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { lastPart, pathOf, plural } from '../model/format.js';
import { Dialog } from '../ui/dialog.js';
import { useLongWork, WorkProgress } from '../ui/long-work.js';
import { VisibleText } from '../ui/visible-text.js';
import './rewind.css';

interface Props {
  readonly chat: ChatState;
  readonly turnId: string;
  readonly onChoose: (turnId: string) => void;
  readonly onClose: () => void;
}

const KIND_WORDS: Readonly<Record<RewindKind, string>> = {
  both: 'Conversation and files',
  conversation: 'Only the conversation',
  files: 'Only files',
};

export function RewindDialog({ chat, turnId, onChoose, onClose }: Props) {
  const session = useOpenSession();
  const { client, chatUri: channel } = session;
  const [preview, setPreview] = useState<RewindPreview>();
  const [problem, setProblem] = useState<string>();
  const [what, setWhat] = useState<RewindKind>('both');
  const [isBusy, setBusy] = useState(false);
  const work = useLongWork();
  const [looks, setLooks] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another look is a reason to ask again
  useEffect(() => {
    let isOver = false;
    setPreview((before) => (before?.turnId === turnId ? before : undefined));
    client.requestExtension(REWIND_PREVIEW_METHOD, { channel, turnId }).then(
      (found) => isOver || setPreview(found as RewindPreview),
      (error) => isOver || setProblem(problemText(error)),
    );
    return () => {
      isOver = true;
    };
  }, [client, channel, turnId, looks]);
  const go = async (plan: string) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const params: RewindParams = { channel, turnId, what, plan };
      (await work.run(REWIND_METHOD, params)) as RewindResult;
      onClose();
    } catch (error) {
      setProblem(problemText(error));
      setLooks(looks + 1);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Rewind to here" className="rewind" onClose={onClose}>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Messages chat={chat} turnId={turnId} onChoose={onChoose} />
      {!preview && problem === undefined && <p aria-busy="true">Looking at what would change …</p>}
      {preview && (
        <>
          <Choice what={what} onChange={setWhat} />
          <div className="rewind-effects">
            {what !== 'files' && (
              <p>
                {plural(preview.turns, 'message')} and what came of {preview.turns === 1 ? 'it' : 'them'} will be taken
                out of this chat. A fork keeps them.
              </p>
            )}
            {what !== 'conversation' && <FileEffects preview={preview} />}
          </div>
          <WorkProgress work={work} label="Going back" />
          <div className="buttons">
            <button
              type="button"
              className="primary"
              // biome-ignore lint/a11y/noAutofocus: the person waits for it since the dialog has opened
              autoFocus
              onClick={() => void go(preview.plan)}
            >
              {isBusy ? 'Going back …' : 'Rewind'}
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
          <p className="hint">You can undo it until the next message.</p>
        </>
      )}
    </Dialog>
  );
}

/** The length of a message in the list. */
const SHOWN_MAX_CHARACTERS = 80;

/** The choice of a message: the loaded ones, the newest first. */
function Messages({ chat, turnId, onChoose }: Omit<Props, 'onClose'>) {
  const id = useId();
  return (
    <div className="rewind-message">
      <label htmlFor={id}>To before</label>
      <select id={id} value={turnId} onChange={(event) => onChoose(event.target.value)}>
        {chat.turns.toReversed().map((turn) => (
          <option key={turn.id} value={turn.id}>
            {visibleText(turn.message.text, 'line').slice(0, SHOWN_MAX_CHARACTERS)}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ChoiceProps {
  readonly what: RewindKind;
  readonly onChange: (what: RewindKind) => void;
}

function Choice({ what, onChange }: ChoiceProps) {
  return (
    <fieldset className="rewind-choice">
      <legend>Goes back</legend>
      {(Object.keys(KIND_WORDS) as RewindKind[]).map((kind) => (
        <label key={kind}>
          <input type="radio" name="rewind" checked={kind === what} onChange={() => onChange(kind)} />{' '}
          {KIND_WORDS[kind]}
        </label>
      ))}
    </fieldset>
  );
}

function FileEffects({ preview: { files, kept, moreFiles, notUndone } }: { readonly preview: RewindPreview }) {
  return (
    <>
      <h3>{files.length === 0 ? 'No file would change' : `${plural(files.length, 'file')} would change`}</h3>
      {files.length > 0 && (
        <ul className="rewind-files">
          {files.map(({ uri, does, added, removed }) => (
            <li key={uri}>
              <FileName uri={uri} />
              {does !== 'change' && <span className="hint"> {does === 'delete' ? 'deleted' : 'comes back'}</span>}
              {added !== undefined && removed !== undefined && (
                <span className="counts">
                  <ins>+{added}</ins> <del>−{removed}</del>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {moreFiles !== undefined && <p className="hint">and {moreFiles} more</p>}
      {kept.length > 0 && (
        <>
          <h3>Stays as it is</h3>
          <ul className="rewind-files">
            {kept.map(({ uri, why }) => (
              <li key={uri}>
                <FileName uri={uri} /> <span className="hint">{why}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {notUndone.length > 0 && (
        <>
          <h3>Not undone</h3>
          <p className="hint">What these did beyond the files above cannot be undone.</p>
          <ul className="rewind-files">
            {notUndone.map((text) => (
              <li key={text}>
                <code>
                  <VisibleText text={text} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function FileName({ uri }: { readonly uri: string }) {
  const path = pathOf(uri);
  return (
    <span className="name" title={path}>
      <VisibleText text={lastPart(path)} />
    </span>
  );
}
