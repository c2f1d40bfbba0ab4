/** The way from a turn to what it changed, with the lines that its edits name. */
import type { Turn } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';
import { editCount } from '../parts/tool-words.js';
import { Icon } from '../ui/icons.js';
import { showChanges } from './shown-changes.js';
import { hasTools, turnView } from './views.js';

export function TurnChanges({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const view = turnView(session.state.summary.changesets, turn.id);
  if (!view || !hasTools(turn)) return null;
  const { added, removed } = countOf(turn);
  return (
    <button
      type="button"
      className="quiet small turn-changes"
      title="What the agent changed in this turn"
      onClick={() => showChanges({ session: session.uri, uri: view.uri })}
    >
      <Icon name="file" /> Changes
      {added > 0 && <span className="added">+{added}</span>}
      {removed > 0 && <span className="removed">−{removed}</span>}
    </button>
  );
}

function countOf({ responseParts }: Turn): { readonly added: number; readonly removed: number } {
  const counts = responseParts.flatMap((part) => (part.kind === 'toolCall' ? (editCount(part.toolCall) ?? []) : []));
  return counts.reduce((sum, each) => ({ added: sum.added + each.added, removed: sum.removed + each.removed }), {
    added: 0,
    removed: 0,
  });
}
