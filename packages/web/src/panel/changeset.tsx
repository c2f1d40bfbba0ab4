/** One set of changes: its files, and what can be done with them. What destroys something is asked for first. */
import type { ChangesetOperation } from '@atrium/protocol';
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { Words } from '../markdown/markdown.js';
import { pathOf } from '../model/format.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';
import { useChangeset } from './use-changeset.js';

export function Changeset({ uri }: { readonly uri: string }) {
  const { client } = useHost();
  const state = useChangeset(uri);
  const [asked, setAsked] = useState<ChangesetOperation>();
  if (!state) return <p className="hint">Loading …</p>;
  const invoke = async ({ id, label }: ChangesetOperation) => {
    setAsked(undefined);
    try {
      const { message } = await client.request('invokeChangesetOperation', { channel: uri, operationId: id });
      tell(typeof message === 'string' ? message : (message?.markdown ?? `${label}: accepted.`));
    } catch (error) {
      tell(problemText(error));
    }
  };
  const operations = (state.operations ?? []).filter(({ scopes }) => scopes.includes('changeset'));
  return (
    <>
      <ul className="files">
        {state.files.map(({ id, edit }) => (
          <li key={id}>
            <span className="path">{pathOf(edit.after?.uri ?? edit.before?.uri ?? '')}</span>
            <span className="added">+{edit.diff?.added ?? 0}</span>{' '}
            <span className="removed">−{edit.diff?.removed ?? 0}</span>
          </li>
        ))}
      </ul>
      <div className="buttons">
        {operations.map((operation) => (
          <button
            key={operation.id}
            type="button"
            className="small"
            onClick={() => (operation.confirmation === undefined ? void invoke(operation) : setAsked(operation))}
          >
            {operation.label}
          </button>
        ))}
      </div>
      {asked?.confirmation !== undefined && (
        <Dialog title={asked.label} onClose={() => setAsked(undefined)}>
          <p>
            <Words text={asked.confirmation} />
          </p>
          <div className="buttons">
            <button type="button" className="danger" onClick={() => void invoke(asked)}>
              {asked.label}
            </button>
            <button type="button" onClick={() => setAsked(undefined)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
