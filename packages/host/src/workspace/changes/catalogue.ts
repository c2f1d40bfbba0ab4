/** The entries of a session's catalogue: which views there are, and how much each of them shows. */
import type { ChangesetSummary } from '@atrium/protocol';
import type { Shown } from './views/source.js';
import { turnTemplates, viewUri } from './views/uri.js';

export interface Counted {
  readonly session: Shown;
  /** Absent where there is no repository. */
  readonly uncommitted?: Shown;
}

export function catalogueOf(session: string, { session: ofSession, uncommitted }: Counted): ChangesetSummary[] {
  const { turn, between } = turnTemplates(session);
  return [
    ...(uncommitted
      ? [
          {
            label: 'Uncommitted changes',
            uriTemplate: viewUri(session, { kind: 'uncommitted' }),
            description: 'What differs from the last commit, whoever changed it.',
            ...countsOf(uncommitted),
          },
        ]
      : []),
    {
      label: 'This session',
      uriTemplate: viewUri(session, { kind: 'session' }),
      description: 'What the agent changed in all turns.',
      ...countsOf(ofSession),
    },
    { label: 'One turn', uriTemplate: turn, description: 'What the agent changed in one turn.' },
    {
      label: 'Between two turns',
      uriTemplate: between,
      description: 'What the agent changed after one, up to another.',
    },
  ];
}

/** The sums stand here alone; whoever has the files can add them up. */
function countsOf({
  files,
  problem,
}: Shown): Pick<ChangesetSummary, 'additions' | 'deletions' | 'files' | 'description'> {
  const diffs = files.map(({ file }) => file.edit.diff);
  return {
    additions: diffs.reduce((sum, diff) => sum + (diff?.added ?? 0), 0),
    deletions: diffs.reduce((sum, diff) => sum + (diff?.removed ?? 0), 0),
    files: files.length,
    ...(problem && { description: problem.message }),
  };
}
