/** The questions before a branch changes: each shows exactly what will happen, and nothing happens before a yes. */
import { type BoardCard, type BranchActionParams, PULL_REQUEST_METHOD, type PullRequest } from '@atrium/protocol/ahp-1';
import { useEffect, useId, useState } from 'react';
import { CommitForm } from '../changes/commit-form.js';
import { useHost } from '../host/context.js';
import { plural } from '../model/format.js';
import { useLongWork, WorkProgress } from '../ui/long-work.js';
import { VisibleText } from '../ui/visible-text.js';
import { boardProblem } from './board-problem.js';

export interface Question {
  readonly kind: 'merge' | 'rebase' | 'remove' | 'commit' | 'push' | 'pull';
  readonly card: BoardCard;
}

interface Props {
  readonly question: Question;
  readonly onAct: (params: BranchActionParams) => void;
  readonly onSaid: (text: string) => void;
  readonly onClose: () => void;
}

export function Asked(props: Props) {
  const { kind } = props.question;
  if (kind === 'commit') {
    const { session } = props.question.card;
    return (
      <CommitForm
        session={session}
        onCommit={(message, shown) => props.onAct({ session, action: 'commit', message, ...(shown && { shown }) })}
        onProblem={(error) => props.onSaid(boardProblem(error))}
        onClose={props.onClose}
      />
    );
  }
  if (kind === 'pull') return <PullForm {...props} />;
  return <Plain {...props} kind={kind} />;
}

function textOf(kind: 'merge' | 'rebase' | 'remove' | 'push', { branch, base, uncommitted }: BoardCard): string {
  if (kind === 'merge') {
    const left = uncommitted === 0 ? '' : ` ${plural(uncommitted, 'changed file')} not committed stay out of it.`;
    return `Merge ${branch} into ${base}?${left}`;
  }
  if (kind === 'rebase') return `Put ${branch} onto ${base}?`;
  if (kind === 'push') return `Push ${branch} to its remote?`;
  const lost =
    uncommitted === 0 ? '' : ` ${uncommitted} uncommitted ${uncommitted === 1 ? 'file is' : 'files are'} lost.`;
  return `Remove the worktree? The branch ${branch ?? ''} stays.${lost}`;
}

function Plain({
  question: { card },
  kind,
  onAct,
  onClose,
}: Props & { readonly kind: 'merge' | 'rebase' | 'remove' | 'push' }) {
  const { session, base, uncommitted } = card;
  const yes = () =>
    onAct({
      ...{ session, action: kind },
      ...((kind === 'merge' || kind === 'rebase') && base !== undefined && { into: base }),
      ...(kind === 'remove' && uncommitted > 0 && { force: true }),
    });
  return (
    <fieldset className="board-question">
      <legend>
        <VisibleText text={textOf(kind, card)} />
      </legend>
      <Answers label="Yes" onYes={yes} onNo={onClose} />
    </fieldset>
  );
}

interface AnswersProps {
  readonly label: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

function Answers({ label, onYes, onNo }: AnswersProps) {
  return (
    <div className="buttons">
      <button
        type="button"
        className="primary"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
        autoFocus
        onClick={onYes}
      >
        {label}
      </button>
      <button type="button" onClick={onNo}>
        Cancel
      </button>
    </div>
  );
}

function PullForm({ question: { card }, onSaid, onClose }: Props) {
  const { client } = useHost();
  const { session } = card;
  const [request, setRequest] = useState<PullRequest>();
  const [isBusy, setBusy] = useState(false);
  const work = useLongWork();
  const id = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for a session
  useEffect(() => {
    client.requestExtension(PULL_REQUEST_METHOD, { session }).then(
      (found) => setRequest(found as PullRequest),
      (error) => onSaid(boardProblem(error)),
    );
  }, [client, session]);
  if (!request) return <p aria-busy="true">Looking for gh and glab …</p>;
  const { tool, title, body, base, head, link } = request;
  if (tool === undefined)
    return (
      <fieldset className="board-question">
        <legend>Neither gh nor glab is logged in on the host.</legend>
        {link !== undefined && (
          <a className="button primary" href={link} target="_blank" rel="noopener noreferrer">
            Make the pull request on the forge
          </a>
        )}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </fieldset>
    );
  const create = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const params = { session, title, body, create: true };
      const { url } = (await work.run(PULL_REQUEST_METHOD, params)) as PullRequest;
      onSaid(`Made ${url}`);
    } catch (error) {
      onSaid(boardProblem(error));
    }
  };
  return (
    <fieldset className="board-question">
      <legend>
        <VisibleText text={`Push ${head}, and ask by ${tool} to merge it into ${base}`} />
      </legend>
      <label htmlFor={`${id}-title`}>Title</label>
      <input
        id={`${id}-title`}
        type="text"
        value={title}
        onChange={(event) => setRequest({ ...request, title: event.target.value })}
      />
      <label htmlFor={`${id}-body`}>Description</label>
      <textarea
        id={`${id}-body`}
        rows={4}
        value={body}
        onChange={(event) => setRequest({ ...request, body: event.target.value })}
      />
      <WorkProgress work={work} label="Making it" />
      <Answers label="Make the pull request" onYes={() => void create()} onNo={onClose} />
    </fieldset>
  );
}
