/** The parts of the side panel. Each is a tab; one that has nothing to show for a session has no tab there. */
import type { RootState, SessionState } from '@atrium/protocol';
import { type ComponentType, lazy } from 'react';
import { Details } from './details.js';

export interface PanelTab {
  readonly id: string;
  readonly title: string;
  readonly View: ComponentType<{ readonly state: SessionState }>;
  /** It needs room: the panel is wider while it is shown. */
  readonly isWide?: boolean;
  /** Absent: always there. */
  isShown?(state: SessionState, root: RootState): boolean;
}

/** Views of their own weight come when they are first looked at. */
export const PANEL_TABS: readonly PanelTab[] = [
  { id: 'details', title: 'Details', View: Details },
  {
    id: 'files',
    title: 'Files',
    View: lazy(() => import('../files/files-panel.js').then(({ FilesPanel }) => ({ default: FilesPanel }))),
    isWide: true,
    isShown: ({ summary }) => summary.workingDirectory?.startsWith('file:') === true,
  },
  {
    id: 'changes',
    title: 'Changes',
    View: lazy(() => import('../changes/changes-panel.js').then(({ ChangesPanel }) => ({ default: ChangesPanel }))),
    isWide: true,
    isShown: ({ summary }) => (summary.changesets?.length ?? 0) > 0,
  },
  {
    id: 'terminal',
    title: 'Terminal',
    View: lazy(() =>
      import('../terminals/terminal-panel.js').then(({ TerminalPanel }) => ({ default: TerminalPanel })),
    ),
    isWide: true,
    isShown: ({ summary }, { terminals }) => terminals !== undefined || summary.workingDirectory !== undefined,
  },
];
