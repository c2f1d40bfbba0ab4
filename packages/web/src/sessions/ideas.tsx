/** For those who see this for the first time: what to try, and what makes it different. */
const IDEAS = [
  'What can you do?',
  'List the files here and say what this project is.',
  'What changed since the last commit?',
];

interface Props {
  readonly onPick: (idea: string) => void;
  /** Without a first message. */
  readonly onEmpty: () => void;
}

export function Ideas({ onPick, onEmpty }: Props) {
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
      <p className="hint">
        The session lives in the host, not in this page. Close the tab, open it on your phone, answer from there: it is
        the same session everywhere.
      </p>
    </section>
  );
}
