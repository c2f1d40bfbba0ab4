/** The filters of a search as controls. They are words of the query, so that both ways lead to the same. */
import type { AgentInfo, SessionSummary } from '@atrium/protocol/ahp-1';
import { lastPart, pathOf } from '../model/format.js';
import { folderOf } from '../model/sessions.js';

const STATES = ['waiting', 'working', 'failed', 'unread', 'idle', 'pinned', 'archived'];
const TIMES = [
  ['1d', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

type Name = 'folder' | 'agent' | 'state' | 'since';

interface Props {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly agents: readonly Pick<AgentInfo, 'provider' | 'displayName'>[];
  readonly sessions: readonly SessionSummary[];
}

export function SearchFilters({ text, onChange, agents, sessions }: Props) {
  const names = sessions.flatMap((session) => {
    const folder = folderOf(session);
    return folder === undefined ? [] : [lastPart(pathOf(folder))];
  });
  const folders = [...new Set(names)].filter((name) => name !== '' && !name.includes('"')).sort();
  const filter = (name: Name, label: string, choices: readonly (readonly [value: string, label: string])[]) => {
    const value = filterIn(text, name);
    const isListed = value === '' || choices.some(([each]) => each === value);
    return (
      <select
        className="bare"
        aria-label={label}
        value={value}
        onChange={({ target }) => onChange(withFilter(text, name, target.value))}
      >
        <option value="">{label}</option>
        {!isListed && <option value={value}>{value}</option>}
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out like this in every browser
    <div className="search-filters" role="group" aria-label="Filters">
      {filter(
        'folder',
        'Any folder',
        folders.map((name) => [name, name]),
      )}
      {filter(
        'agent',
        'Any agent',
        agents.map(({ provider, displayName }) => [provider, displayName]),
      )}
      {filter(
        'state',
        'Any state',
        STATES.map((state) => [state, `${state[0]?.toUpperCase()}${state.slice(1)}`]),
      )}
      {filter('since', 'Any time', TIMES)}
    </div>
  );
}

function pieceOf(name: Name): RegExp {
  return new RegExp(`(?:^|\\s+)${name}:(?:"([^"]*)"|(\\S*))`, 'iu');
}

export function filterIn(text: string, name: Name): string {
  const [, quoted, plain] = pieceOf(name).exec(text) ?? [];
  return quoted ?? plain ?? '';
}

/** An empty value takes the filter out. */
export function withFilter(text: string, name: Name, value: string): string {
  const rest = text.replace(pieceOf(name), '').trim();
  const word = value === '' ? '' : `${name}:${/\s/.test(value) ? `"${value}"` : value}`;
  // In front: the last word is the one that is being typed, and counts as the beginning of one.
  return [word, rest].filter(Boolean).join(' ');
}
