/** Sets of changes that a session lists. Each is a channel of its own, opened when somebody unfolds it. */
import type { ChangesetSummary } from '@atrium/protocol';
import { useState } from 'react';
import { Changeset } from './changeset.js';
import { Section } from './section.js';

export function Changes({ changesets = [] }: { readonly changesets: readonly ChangesetSummary[] | undefined }) {
  if (changesets.length === 0) return null;
  return (
    <Section title="Changes" count={changesets.length}>
      <ul className="entries">
        {changesets.map((summary) => (
          <Entry key={summary.uriTemplate} summary={summary} />
        ))}
      </ul>
    </Section>
  );
}

function Entry({ summary }: { readonly summary: ChangesetSummary }) {
  const [isOpen, setOpen] = useState(false);
  const { label, uriTemplate, additions, deletions } = summary;
  // A template with parameters names many sets; which of them is meant cannot be known here.
  const isOne = !uriTemplate.includes('{');
  return (
    <li>
      <div className="entry-head">
        <span className="name">{label}</span>
        {additions !== undefined && <span className="added">+{additions}</span>}
        {deletions !== undefined && <span className="removed">−{deletions}</span>}
        {isOne && (
          <button type="button" className="quiet small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide' : 'Show'}
          </button>
        )}
      </div>
      {isOpen && <Changeset uri={uriTemplate} />}
    </li>
  );
}
