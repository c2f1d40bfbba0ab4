/** For those who see this for the first time: what to try, and what makes it different. */
import type { AgentInfo } from '@atrium/protocol';

const IDEAS = [
  'What can you do?',
  'List the files here and say what this project is.',
  'What changed since the last commit?',
];

/** The agent that comes with the host. */
const WITHOUT_MODEL = 'offline';

interface Props {
  readonly agents: readonly AgentInfo[];
  readonly onPick: (idea: string) => void;
  /** Without a first message. */
  readonly onEmpty: () => void;
}

export function Ideas({ agents, onPick, onEmpty }: Props) {
  const hasOthers = agents.some(({ provider }) => provider !== WITHOUT_MODEL);
  return (
    <section className="ideas" aria-label="Things to try">
      <ul>
        {IDEAS.map((idea) => (
          <li key={idea}>
            <button type="button" className="quiet small" onClick={() => onPick(idea)}>
              {idea}
            </button>
          </li>
        ))}
        <li>
          <button type="button" className="quiet small" onClick={onEmpty}>
            Open an empty session
          </button>
        </li>
      </ul>
      {!hasOthers && (
        <p className="hint">
          No model is connected yet. The agent that is here shows how things work; <code>npx atrium agents</code>, on
          the machine of the host, says how to get a real one.
        </p>
      )}
      <p className="hint">
        The session lives in the host, not in this page. Close the tab, open it on your phone, answer from there: it is
        the same session everywhere.
      </p>
    </section>
  );
}
