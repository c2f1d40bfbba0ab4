/** Runs what can be done with changes. What destroys something is asked for first, in the words of the host. */
import type { ChangesetOperation, ChangesetOperationTarget } from '@atrium/protocol';
import { type ReactNode, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { Words } from '../markdown/markdown.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';
import { uncover } from '../ui/panel-switch.js';

export interface Wish {
  readonly operation: ChangesetOperation;
  /** What it is about, for people. */
  readonly what: string;
  readonly target?: ChangesetOperationTarget;
}

export interface Operations {
  readonly isBusy: boolean;
  /** Why the last one was not done. */
  readonly problem: string | undefined;
  wish(wish: Wish): void;
  /** The question, while there is one. */
  readonly question: ReactNode;
}

export function useOperation(uri: string): Operations {
  const { client } = useHost();
  const session = useOpenSession();
  const [asked, setAsked] = useState<Wish>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const invoke = async ({ operation: { id, label }, target }: Wish) => {
    setAsked(undefined);
    setProblem(undefined);
    setBusy(true);
    uncoverIfAsked(session);
    try {
      const params = { channel: uri, operationId: id, ...(target && { target }) };
      const { message } = await client.request('invokeChangesetOperation', params);
      tell(typeof message === 'string' ? message : (message?.markdown ?? `${label}: accepted.`));
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  const wish = (wanted: Wish) => (wanted.operation.confirmation === undefined ? void invoke(wanted) : setAsked(wanted));
  const question = asked && <Question wish={asked} onYes={() => void invoke(asked)} onNo={() => setAsked(undefined)} />;
  return { isBusy, problem, wish, question };
}

/** How long a question that comes up is likely to come from what was just done. */
const ASKED_WITHIN_MS = 2_000;

/** What an operation asks back in the session (the words of a commit) must not be covered by the panel. */
function uncoverIfAsked(session: OpenSession): void {
  const count = () => session.state.inputRequests?.length ?? 0;
  const before = count();
  const stop = session.view.subscribe(() => {
    if (count() > before) uncover();
  });
  setTimeout(stop, ASKED_WITHIN_MS);
}

interface QuestionProps {
  readonly wish: Wish;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

function Question({ wish: { operation, what }, onYes, onNo }: QuestionProps) {
  const { label, confirmation = '' } = operation;
  return (
    <Dialog title={`${label}?`} onClose={onNo}>
      <p>
        <Words text={confirmation} />
      </p>
      <p className="hint">{what}</p>
      <div className="buttons">
        <button type="button" className="danger" onClick={onYes}>
          {label}
        </button>
        <button type="button" onClick={onNo}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
