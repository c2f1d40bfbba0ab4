/** The tree of customizations. Only top-level entries can be toggled or replaced; a child can be taken out. */
import { withElement, withMembers } from '../../reducing.js';
import type { Customization } from '../state/customization.js';
import type { SessionState } from '../state/session-state.js';
import type { SessionHandlers } from './family.js';

export const customizationHandlers: SessionHandlers<
  | 'session/customizationsChanged'
  | 'session/customizationToggled'
  | 'session/customizationUpdated'
  | 'session/customizationRemoved'
> = {
  'session/customizationsChanged': (state, { customizations }) => withMembers(state, { customizations }),

  'session/customizationToggled': (state, { id, enabled }) => {
    const { index, entry } = find(state.customizations, id);
    return entry ? withEntry(state, index, withMembers(entry, { enabled })) : state;
  },

  'session/customizationUpdated': (state, { customization }) => {
    const { index, entry } = find(state.customizations, customization.id);
    if (entry) return withEntry(state, index, customization);
    return { ...state, customizations: [...(state.customizations ?? []), customization] };
  },

  'session/customizationRemoved': (state, { id }) => {
    if (!state.customizations) return state;
    return withMembers(state, { customizations: withoutEntry(state.customizations, id) });
  },
};

function find(list: Customization[] | undefined, id: string): { index: number; entry: Customization | undefined } {
  const index = list?.findIndex((entry) => entry.id === id) ?? -1;
  return { index, entry: list?.[index] };
}

function withEntry(state: SessionState, index: number, entry: Customization): SessionState {
  return withMembers(state, { customizations: withElement(state.customizations ?? [], index, entry) });
}

/** Without the entry of that id; failing that, without the children of that id. The same list when there are none. */
function withoutEntry(list: Customization[], id: string): Customization[] {
  const index = list.findIndex((entry) => entry.id === id);
  if (index >= 0) return list.toSpliced(index, 1);
  const changed = list.map((entry) => withoutChild(entry, id));
  return changed.every((entry, at) => entry === list[at]) ? list : changed;
}

function withoutChild(entry: Customization, id: string): Customization {
  const index = entry.children?.findIndex((child) => child.id === id) ?? -1;
  return index < 0 ? entry : { ...entry, children: entry.children?.toSpliced(index, 1) };
}
