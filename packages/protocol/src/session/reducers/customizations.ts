/** The tree of customizations. Only top-level entries can be toggled or replaced; a child can be taken out. */
import { withElement, withMembers } from '../../reducing.js';
import type { Customization } from '../state/customization.js';
import type { SessionHandlers } from './family.js';

export const customizationHandlers: SessionHandlers<
  | 'session/customizationsChanged'
  | 'session/customizationToggled'
  | 'session/customizationUpdated'
  | 'session/customizationRemoved'
> = {
  'session/customizationsChanged': (state, { customizations }) => withMembers(state, { customizations }),

  'session/customizationToggled': (state, { id, enabled }) => {
    const list = state.customizations ?? [];
    const index = list.findIndex((entry) => entry.id === id);
    const entry = list[index];
    if (!entry) return state;
    return withMembers(state, { customizations: withElement(list, index, withMembers(entry, { enabled })) });
  },

  'session/customizationUpdated': (state, { customization }) => {
    const list = state.customizations ?? [];
    const index = list.findIndex((entry) => entry.id === customization.id);
    const customizations = index < 0 ? [...list, customization] : withElement(list, index, customization);
    return withMembers(state, { customizations });
  },

  'session/customizationRemoved': (state, { id }) => {
    if (!state.customizations) return state;
    return withMembers(state, { customizations: withoutEntry(state.customizations, id) });
  },
};

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
