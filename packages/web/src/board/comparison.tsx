/** Two branches against each other: the files, and line by line. */
import { type Board, type BranchComparison, COMPARE_BRANCHES_METHOD } from '@atrium/protocol/ahp-1';
import { useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { plural } from '../model/format.js';
import { VisibleText } from '../ui/visible-text.js';
import { boardProblem } from './board-problem.js';

/** More lines would block the page; the terminal shows the rest. */
const LINES_MAX = 2_000;

export function Comparison({ board: { root, branches } }: { readonly board: Board }) {
  const { client } = useHost();
  const id = useId();
  const [from, setFrom] = useState(branches.find((name) => /^(main|master)$/.test(name)) ?? branches.at(-1) ?? '');
  const [to, setTo] = useState(branches.find((name) => name !== from) ?? '');
  const [found, setFound] = useState<BranchComparison>();
  const [problem, setProblem] = useState<string>();
  const compare = () => {
    setProblem(undefined);
    client.requestExtension(COMPARE_BRANCHES_METHOD, { folder: root, from, to }).then(
      (answer) => setFound(answer as BranchComparison),
      (error) => setProblem(boardProblem(error)),
    );
  };
  const choice = (label: string, value: string, choose: (name: string) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => choose(event.target.value)}>
        {branches.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
  const lines = found?.diff.split('\n') ?? [];
  return (
    <section className="board-comparison" aria-labelledby={id}>
      <h3 id={id}>Compare two branches</h3>
      <div className="board-choice">
        {choice('From', from, setFrom)}
        {choice('To', to, setTo)}
        <button type="button" className="small" onClick={compare}>
          Compare
        </button>
      </div>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {found && (
        <>
          <p role="status">{`${plural(found.files.length, 'file')} changed in ${found.to} since it left ${found.from}`}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach it */}
          <pre className="board-diff" tabIndex={0}>
            {lines.slice(0, LINES_MAX).map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and keep their place
              <span key={index} className={kindOf(line)}>
                <VisibleText text={line} mode="lines" />
                {'\n'}
              </span>
            ))}
          </pre>
          {(found.isCut || lines.length > LINES_MAX) && <p className="hint">There is more: atrium board --compare</p>}
        </>
      )}
    </section>
  );
}

function kindOf(line: string): string {
  if (line.startsWith('+') && !line.startsWith('+++')) return 'added';
  return line.startsWith('-') && !line.startsWith('---') ? 'removed' : '';
}
