/** The question before a commit: what goes in, on which branch, and with which message. Enter commits. */
import { type BranchActionParams, type CommitProposal, PROPOSE_COMMIT_METHOD } from '@atrium/protocol/ahp-1';
import { useEffect, useRef, useState } from 'react';
import { useHost } from '../host/context.js';
import { plural } from '../model/format.js';
import { AutoText } from '../ui/auto-text.js';
import { VisibleText } from '../ui/visible-text.js';

interface Props {
  readonly session: string;
  readonly onCommit: (message: string, shown: BranchActionParams['shown']) => void;
  readonly onProblem: (error: unknown) => void;
  readonly onClose: () => void;
}

export function CommitForm({ session, onCommit, onProblem, onClose }: Props) {
  const { client } = useHost();
  const [proposal, setProposal] = useState<CommitProposal>();
  const [message, setMessage] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for a session
  useEffect(() => {
    client.requestExtension(PROPOSE_COMMIT_METHOD, { session }).then((found) => {
      setProposal(found as CommitProposal);
      setMessage((found as CommitProposal).message);
    }, onProblem);
  }, [client, session]);
  useEffect(() => {
    if (proposal) field.current?.select();
  }, [proposal]);
  if (!proposal) return <p aria-busy="true">Thinking of a message …</p>;
  const { files, count, isStaged, branch } = proposal;
  const shown = { count, isStaged, ...(branch !== undefined && { branch }) };
  const commit = () => message.trim() !== '' && onCommit(message, shown);
  return (
    <fieldset className="board-question commit-form">
      <legend>
        Commit {isStaged ? 'what is staged' : 'everything that changed'}: {plural(count, 'file')}
        {branch !== undefined && (
          <>
            {' on '}
            <code>
              <VisibleText text={branch} />
            </code>
          </>
        )}
      </legend>
      <ul className="commit-files" aria-label="Files of the commit">
        {files.map((file) => (
          <li key={file}>
            <VisibleText text={file} />
          </li>
        ))}
        {count > files.length && <li className="hint">and {plural(count - files.length, 'more file')}</li>}
      </ul>
      <AutoText
        ref={field}
        label="Commit message"
        placeholder="What the commit does. Shift+Enter begins a new line."
        isFocused
        value={message}
        onChange={setMessage}
        onEnter={commit}
      />
      <div className="buttons">
        <button type="button" className="primary" disabled={message.trim() === ''} onClick={commit}>
          Commit {plural(count, 'file')}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </fieldset>
  );
}
