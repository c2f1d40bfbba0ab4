/** The changes of a folder, of a session or of one turn: operations on all of them, then the files. */
import {
  BRANCH_ACTION_METHOD,
  type BranchActionParams,
  type Changeset as ChangesetEntry,
  type ChangesetOperation,
  type ChangesetState,
  type ChatState,
  type SessionState,
} from '@atrium/protocol/ahp-1';
import { useId, useState } from 'react';
import { useOpenSession } from '../host/context.js';
import { accessOf, isAtrium } from '../host/extensions.js';
import type { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { plural } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { useKeptFocus } from '../ui/focus.js';
import { IconButton } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { FileRow } from './changed-file.js';
import { CommitForm } from './commit-form.js';
import { totals } from './file-state.js';
import { shownChanges, useChangeset } from './use-changeset.js';
import { FollowUp, isInvocable, type Operations, useOperation } from './use-operation.js';
import { changesetsOf, turnChoices, wholeViews } from './views.js';
import './changes.css';

interface PanelProps {
  readonly state: SessionState;
  readonly chat: ChatState;
}

export function ChangesPanel({ state, chat }: PanelProps) {
  const session = useOpenSession();
  const id = useId();
  const wanted = useStore(shownChanges);
  const changesets = changesetsOf(state, chat);
  const whole = wholeViews(changesets);
  const turns = turnChoices(changesets, chat);
  const uri = wanted?.session === session.uri ? wanted.uri : whole[0]?.uriTemplate;
  if (uri === undefined) return <p className="changes-note hint">Nothing is recorded here yet.</p>;
  const about = whole.find(({ uriTemplate }) => uriTemplate === uri)?.description;
  const isListed = about !== undefined || turns.some((turn) => turn.uri === uri);
  return (
    <div className="changes-panel">
      <div className="changes-choice">
        <select
          aria-label="Which changes"
          aria-describedby={id}
          value={uri}
          onChange={({ target }) => shownChanges.set({ session: session.uri, uri: target.value })}
        >
          {whole.map((entry) => (
            <option key={entry.uriTemplate} value={entry.uriTemplate}>
              {titleOf(entry)}
            </option>
          ))}
          {turns.length > 0 && (
            <optgroup label="One turn">
              {turns.map((turn) => (
                <option key={turn.uri} value={turn.uri}>
                  {turn.label}
                </option>
              ))}
            </optgroup>
          )}
          {!isListed && <option value={uri}>An earlier turn</option>}
        </select>
        <p className="hint" id={id}>
          {about ?? 'What the agent changed in this turn.'}
        </p>
      </div>
      <Changeset
        key={uri}
        uri={uri}
        folder={folderOf(state)}
        isOnlyFolder={(state.workingDirectories ?? []).length === 1}
      />
    </div>
  );
}

function titleOf({ label, files }: ChangesetEntry): string {
  return files === undefined ? label : `${label} (${files})`;
}

/** How many files show at first; a button shows the rest. */
const FILES_FIRST = 200;

interface ChangesetProps {
  readonly uri: string;
  readonly folder: string | undefined;
  /** Whether the session works in one folder only. */
  readonly isOnlyFolder: boolean;
}

/** One set of changes: the operations on all of it, then its files. */
function Changeset({ uri, folder, isOnlyFolder }: ChangesetProps) {
  const session = useOpenSession();
  const changeset = useChangeset(uri);
  const plain = useOperation(uri);
  const [isCommitting, setCommitting] = useState(false);
  // The host asks for the message by a question of the session, which can name neither files nor a branch.
  const hasForm = isOnlyFolder && isAtrium(session.client) && accessOf(session.client)?.isBounded !== true;
  const run: Operations = {
    ...plain,
    request: (wanted) => (wanted.operation.id === COMMIT && hasForm ? setCommitting(true) : plain.request(wanted)),
  };
  if (changeset.at === 'loading') return <p className="changes-note hint">Loading …</p>;
  if (changeset.at === 'failed')
    return (
      <p className="changes-note" role="alert">
        {changeset.why}
      </p>
    );
  const { state } = changeset;
  const operations = state.operations ?? [];
  return (
    <>
      <Summary state={state} />
      <Whole state={state} operations={operations.filter(({ scopes }) => scopes.includes('changeset'))} run={run} />
      {run.problem !== undefined && (
        <div className="changes-note changes-failed problem" role="alert">
          <span>{run.problem}</span>
          <IconButton icon="close" label="Dismiss" onClick={run.dismissProblem} />
        </div>
      )}
      <FollowUp link={run.link} />
      {state.status === 'error' && state.error && <p className="changes-note problem">{state.error.message}</p>}
      <Files state={state} folder={folder} operations={operations} run={run} />
      {run.question}
      {isCommitting && <CommitDialog session={session} onClose={() => setCommitting(false)} />}
    </>
  );
}

/** The host's name for the operation. */
const COMMIT = 'commit';

function CommitDialog({ session, onClose }: { readonly session: OpenSession; readonly onClose: () => void }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const commit = async (message: string, shown: BranchActionParams['shown']) => {
    if (isBusy) return;
    setBusy(true);
    try {
      const params: BranchActionParams = { session: session.uri, action: 'commit', message, ...(shown && { shown }) };
      const { message: said } = (await session.client.requestExtension(BRANCH_ACTION_METHOD, params)) as {
        readonly message: string;
      };
      onClose();
      tell(said);
    } catch (error) {
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Commit" className="commit-dialog" onClose={onClose}>
      <CommitForm
        session={session.uri}
        onCommit={(message, shown) => void commit(message, shown)}
        onProblem={(error) => {
          onClose();
          tell(`Nothing was committed: ${problemText(error)}`);
        }}
        onClose={onClose}
      />
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

function Summary({ state: { files, status } }: { readonly state: ChangesetState }) {
  const { added, removed } = totals(files);
  if (files.length === 0 && status === 'ready') return <p className="changes-note hint">Nothing has changed here.</p>;
  return (
    <p className="changes-sum" role="status">
      {plural(files.length, 'file')}
      <span className="added">+{added}</span>
      <span className="removed">−{removed}</span>
      {status === 'computing' && <span className="hint">looking …</span>}
    </p>
  );
}

interface WholeProps {
  readonly state: ChangesetState;
  readonly operations: readonly ChangesetOperation[];
  readonly run: Operations;
}

function Whole({ state, operations, run }: WholeProps) {
  const keptFocus = useKeptFocus<HTMLDivElement>(firstButton);
  if (operations.length === 0) return null;
  return (
    <div className="buttons changes-operations" {...keptFocus}>
      {operations.map((operation) => (
        <button
          key={operation.id}
          type="button"
          className="small"
          title={operation.description}
          aria-disabled={run.isBusy || !isInvocable(operation)}
          onClick={() => run.request({ operation, what: `All of it: ${plural(state.files.length, 'file')}.` })}
        >
          {operation.label}
          {operation.scopes.includes('resource') && ' all'}
        </button>
      ))}
    </div>
  );
}

interface FilesProps extends WholeProps {
  readonly folder: string | undefined;
}

function Files({ state: { files }, folder, operations, run }: FilesProps) {
  const [isWhole, setWhole] = useState(false);
  const keptFocus = useKeptFocus<HTMLUListElement>(firstButton);
  const shown = isWhole ? files : files.slice(0, FILES_FIRST);
  return (
    <>
      <ul className="changes-list" aria-label="Changed files" {...keptFocus}>
        {shown.map((file) => (
          <FileRow key={file.id} file={file} folder={folder} operations={operations} run={run} />
        ))}
      </ul>
      {shown.length < files.length && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          Show {plural(files.length - shown.length, 'more file')}
        </button>
      )}
    </>
  );
}

function firstButton(box: HTMLElement): HTMLElement | null {
  return box.querySelector('button');
}
