/** Runs the operations of a set of changes. A destructive one asks first, with the text that the host sends. */
import type {
  ChangesetOperation,
  ChangesetOperationFollowUp,
  ChangesetOperationTarget,
  InvokeChangesetOperationResult,
} from '@atrium/protocol/ahp-1';
import { type ReactNode, useState } from 'react';
import { showFile } from '../files/shown-file.js';
import { useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { Words } from '../markdown/markdown.js';
import { expectingQuestion } from '../questions/expected.js';
import { Dialog } from '../ui/dialog.js';
import { useLongWork, WorkProgress } from '../ui/long-work.js';
import { tell } from '../ui/notices.js';

interface OperationRequest {
  readonly operation: ChangesetOperation;
  /** What it applies to, as text on the screen. */
  readonly what: string;
  readonly target?: ChangesetOperationTarget;
}

export interface Operations {
  readonly isBusy: boolean;
  /** Why the last one failed. */
  readonly problem: string | undefined;
  dismissProblem(): void;
  /** The web address that the last one returned. */
  readonly link: string | undefined;
  request(wanted: OperationRequest): void;
  /** The question, while there is one; then how far it is. */
  readonly question: ReactNode;
}

/** The host may have it run already, or not allow it now. */
export function isInvocable({ status }: ChangesetOperation): boolean {
  return status !== 'running' && status !== 'disabled';
}

export function useOperation(uri: string): Operations {
  const session = useOpenSession();
  const [asked, setAsked] = useState<OperationRequest>();
  const [problem, setProblem] = useState<string>();
  const [link, setLink] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const work = useLongWork();
  const invoke = async ({ operation: { id, label }, target }: OperationRequest) => {
    setAsked(undefined);
    setProblem(undefined);
    setLink(undefined);
    setBusy(true);
    try {
      const params = { channel: uri, operationId: id, ...(target && { target }) };
      const run = () => work.run('invokeChangesetOperation', params) as Promise<InvokeChangesetOperationResult>;
      const { message, followUp } = await expectingQuestion(session, run);
      tell(typeof message === 'string' ? message : (message?.markdown ?? `${label}: accepted.`));
      setLink(followUpLink(session.uri, followUp));
    } catch (error) {
      setProblem(`${label} failed: ${problemText(error)}`);
    } finally {
      setBusy(false);
    }
  };
  // The buttons are not disabled meanwhile: that would take the focus away from them.
  const request = (wanted: OperationRequest) => {
    if (isBusy || !isInvocable(wanted.operation)) return;
    if (wanted.operation.confirmation === undefined) void invoke(wanted);
    else setAsked(wanted);
  };
  const question = asked ? (
    <Question request={asked} onYes={() => void invoke(asked)} onNo={() => setAsked(undefined)} />
  ) : (
    <WorkProgress work={work} label="Working" />
  );
  return { isBusy, problem, dismissProblem: () => setProblem(undefined), link, request, question };
}

interface QuestionProps {
  readonly request: OperationRequest;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

function Question({ request: { operation, what }, onYes, onNo }: QuestionProps) {
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

const WEB = /^https?:\/\//i;

/** Opens the file that an operation points to. A web address is returned instead: only a click opens it. */
function followUpLink(session: string, followUp: ChangesetOperationFollowUp | undefined): string | undefined {
  const uri = followUp?.content.uri ?? '';
  if (WEB.test(uri)) return uri;
  if (uri.startsWith('file:')) showFile({ session, uri });
  return undefined;
}

export function FollowUp({ link }: { readonly link: string | undefined }) {
  if (link === undefined) return null;
  return (
    <p className="changes-note" role="status">
      To go on:{' '}
      <a href={link} target="_blank" rel="noopener noreferrer">
        {link}
      </a>
    </p>
  );
}
