/** Runs what can be done with changes. What destroys something is asked for first, in the words of the host. */
import type { ChangesetOperation, ChangesetOperationFollowUp, ChangesetOperationTarget } from '@atrium/protocol';
import { type ReactNode, useState } from 'react';
import { showFile } from '../files/file-link.js';
import { useHost, useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { Words } from '../markdown/markdown.js';
import { expectQuestion } from '../questions/expected.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';

interface Wish {
  readonly operation: ChangesetOperation;
  /** What it is about, for people. */
  readonly what: string;
  readonly target?: ChangesetOperationTarget;
}

export interface Operations {
  readonly isBusy: boolean;
  /** Why the last one was not done. */
  readonly problem: string | undefined;
  /** What the last one gave to be opened. */
  readonly link: string | undefined;
  wish(wish: Wish): void;
  /** The question, while there is one. */
  readonly question: ReactNode;
}

export function useOperation(uri: string): Operations {
  const { client } = useHost();
  const session = useOpenSession();
  const [asked, setAsked] = useState<Wish>();
  const [problem, setProblem] = useState<string>();
  const [link, setLink] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const invoke = async ({ operation: { id, label }, target }: Wish) => {
    setAsked(undefined);
    setProblem(undefined);
    setLink(undefined);
    setBusy(true);
    expectQuestion();
    try {
      const params = { channel: uri, operationId: id, ...(target && { target }) };
      const { message, followUp } = await client.request('invokeChangesetOperation', params);
      tell(typeof message === 'string' ? message : (message?.markdown ?? `${label}: accepted.`));
      setLink(followUpLink(session.uri, followUp));
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  // The buttons are not disabled meanwhile: that would take the focus away from them.
  const wish = (wanted: Wish) => {
    if (isBusy) return;
    if (wanted.operation.confirmation === undefined) void invoke(wanted);
    else setAsked(wanted);
  };
  const question = asked && <Question wish={asked} onYes={() => void invoke(asked)} onNo={() => setAsked(undefined)} />;
  return { isBusy, problem, link, wish, question };
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

/** What an operation wants to be looked at afterwards: a file of the host is opened, an address of the web is offered. */

const WEB = /^https?:\/\//i;

/** Gives the address that a person may open: pages are not opened without being asked for. */
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
