/** The board of a project: its sessions side by side, and operations on their branches. */
import {
  BOARD_METHOD,
  type Board,
  type BoardCard,
  BRANCH_ACTION_METHOD,
  type BranchActionParams,
  moneyText,
} from '@atrium/protocol/ahp-1';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { asSentence, plural } from '../model/format.js';
import { ACTIVITY_WORDS, activityOf } from '../model/sessions.js';
import { Dialog } from '../ui/dialog.js';
import { useLongWork, WorkProgress } from '../ui/long-work.js';
import { VisibleText } from '../ui/visible-text.js';
import { Asked, type Question } from './board-questions.js';
import { Comparison } from './comparison.js';
import './board.css';
import { boardProblem } from './board-problem.js';

interface Props {
  /** A folder in the repository. */
  readonly folder: string;
  readonly onClose: () => void;
}

export function BoardDialog({ folder, onClose }: Props) {
  const { client } = useHost();
  const [board, setBoard] = useState<Board>();
  const [problem, setProblem] = useState<string>();
  const [note, setNote] = useState<string>();
  const [question, setQuestion] = useState<Question>();
  const work = useLongWork();
  const look = useCallback(() => {
    client.requestExtension(BOARD_METHOD, { folder }).then(
      (found) => setBoard(found as Board),
      (error) => setProblem(boardProblem(error)),
    );
  }, [client, folder]);
  useEffect(look, [look]);
  /** Clears the last message, which is about something else. */
  const ask = (next: Question | undefined) => {
    setQuestion(next);
    setProblem(undefined);
    setNote(undefined);
  };
  const act = async (params: BranchActionParams) => {
    ask(undefined);
    try {
      const { message } = (await work.run(BRANCH_ACTION_METHOD, params)) as { readonly message: string };
      setNote(message);
    } catch (error) {
      setProblem(boardProblem(error));
    }
    look();
  };
  return (
    <Dialog title={board ? `Board of ${board.name}` : 'Board'} className="board" onClose={onClose}>
      {problem !== undefined && (
        <p className="problem" role="alert">
          <VisibleText text={problem} />
        </p>
      )}
      {note !== undefined && (
        <p role="status">
          <VisibleText text={note} />
        </p>
      )}
      <WorkProgress work={work} label="Working" />
      {!board && problem === undefined && <p aria-busy="true">Looking at the branches …</p>}
      {board?.cards.length === 0 && <p>No session works in this project.</p>}
      {board && board.cards.length > 0 && (
        <ul className="board-cards">
          {board.cards.map((card) => (
            <Card key={card.session} card={card} onAsk={ask} onClose={onClose}>
              {question?.card.session === card.session && (
                <Asked
                  key={question.kind}
                  question={question}
                  onAct={act}
                  onSaid={(text) => {
                    setQuestion(undefined);
                    setNote(text);
                  }}
                  onClose={() => setQuestion(undefined)}
                />
              )}
            </Card>
          ))}
        </ul>
      )}
      {board && board.branches.length > 1 && <Comparison board={board} />}
    </Dialog>
  );
}

interface CardProps {
  readonly card: BoardCard;
  readonly onAsk: (question: Question) => void;
  readonly onClose: () => void;
  /** The question about it. */
  readonly children: ReactNode;
}

function Card({ card, onAsk, onClose, children }: CardProps) {
  const { session, title, branch, base, ahead, isWorktree, uncommitted, noPush, noPullRequest } = card;
  const hasBase = base !== undefined && base !== branch;
  return (
    <li className="board-card">
      <h3>
        <a href={hashOf({ at: 'session', uri: session })} onClick={onClose}>
          <VisibleText text={title || 'Untitled'} />
        </a>
      </h3>
      <Figures card={card} />
      <div className="buttons">
        {hasBase && (
          <>
            <button
              type="button"
              className="small"
              disabled={ahead === 0}
              title={ahead === 0 ? 'It has no commits of its own yet.' : undefined}
              onClick={() => onAsk({ kind: 'merge', card })}
            >
              Merge
            </button>
            <button type="button" className="small" onClick={() => onAsk({ kind: 'rebase', card })}>
              Rebase
            </button>
          </>
        )}
        {uncommitted > 0 && (
          <button type="button" className="small" onClick={() => onAsk({ kind: 'commit', card })}>
            Commit
          </button>
        )}
        {branch !== undefined && noPush === undefined && (
          <button type="button" className="small" onClick={() => onAsk({ kind: 'push', card })}>
            Push
          </button>
        )}
        {branch !== undefined && noPullRequest === undefined && (
          <button type="button" className="small" onClick={() => onAsk({ kind: 'pull', card })}>
            Pull request
          </button>
        )}
        {isWorktree && (
          <button type="button" className="small danger" onClick={() => onAsk({ kind: 'remove', card })}>
            Remove worktree
          </button>
        )}
      </div>
      {children}
      {[...new Set([noPush, noPullRequest])].map(
        (reason) =>
          reason !== undefined && (
            <p key={reason} className="hint">
              <VisibleText text={asSentence(reason)} />
            </p>
          ),
      )}
    </li>
  );
}

function Figures({ card }: { readonly card: BoardCard }) {
  const { branch, base, ahead, behind, added, removed, files, uncommitted, tests, cost, problem } = card;
  return (
    <dl className="board-figures">
      <dt>State</dt>
      <dd>{ACTIVITY_WORDS[activityOf(card)]}</dd>
      <dt>Branch</dt>
      <dd>
        <code>
          <VisibleText text={branch ?? 'none'} />
        </code>
        {ahead !== undefined && base !== undefined && (
          <span className="hint">{` ${ahead} ahead, ${behind ?? 0} behind ${base}`}</span>
        )}
      </dd>
      <dt>Changes</dt>
      <dd>
        {problem === undefined ? (
          <>
            <ins>+{added}</ins> <del>−{removed}</del>{' '}
            <span className="hint">
              {`${plural(files, 'file')}${uncommitted > 0 ? `, ${uncommitted} not committed` : ''}`}
            </span>
          </>
        ) : (
          <VisibleText text={asSentence(problem)} />
        )}
      </dd>
      <dt>Tests</dt>
      <dd>
        {tests ? (
          <>
            {tests.passed ? 'passed ' : 'failed '}
            <code>
              <VisibleText text={tests.command} />
            </code>
          </>
        ) : (
          <span className="hint">not known</span>
        )}
      </dd>
      <dt>Cost</dt>
      <dd>{cost === undefined ? <span className="hint">not known</span> : moneyText(cost)}</dd>
    </dl>
  );
}
