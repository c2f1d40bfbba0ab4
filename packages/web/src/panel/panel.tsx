/** The panel at the side: a heading or tabs, and the content of the chosen one. */
import type { ChatState, RootState, SessionState } from '@atrium/protocol/ahp-1';
import {
  type ComponentType,
  type KeyboardEvent,
  lazy,
  type PointerEvent,
  Suspense,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { changesetsOf } from '../changes/views.js';
import { useHost } from '../host/context.js';
import { folderOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { IconButton } from '../ui/icons.js';
import {
  keepPanelWidth,
  panelTab,
  panelWidth,
  setPanelWidth,
  togglePanel,
  WIDTH_MIN_PX,
  widthMax,
} from '../ui/panel-state.js';
import { Details } from './details.js';

interface Props {
  readonly state: SessionState;
  readonly chat: ChatState;
}

export function Panel({ state, chat }: Props) {
  const id = useId();
  const { link } = useHost();
  const root = useStore(link.root);
  const chosen = useStore(panelTab);
  const tabs = PANEL_TABS.filter(({ isShown }) => isShown?.({ state, chat }, root) ?? true);
  const tab = tabs.find((each) => each.id === chosen) ?? tabs[0];
  if (!tab) return null;
  const hasTabs = tabs.length > 1;
  return (
    <aside className={`panel ${tab.isWide ? 'is-wide' : ''}`} aria-label="Details">
      {tab.isWide && <PanelEdge />}
      <header>
        <h2 className={hasTabs ? 'visually-hidden' : ''}>{tab.title}</h2>
        {hasTabs && <TabList id={id} tabs={tabs} chosen={tab.id} onChoose={panelTab.set} />}
        <IconButton icon="close" label="Hide details" onClick={togglePanel} />
      </header>
      <div
        className="panel-body"
        {...(hasTabs && { role: 'tabpanel', id, 'aria-labelledby': `${id}-${tab.id}`, tabIndex: 0 })}
      >
        <Suspense fallback={<p className="hint">Loading …</p>}>
          <tab.View state={state} chat={chat} />
        </Suspense>
      </div>
    </aside>
  );
}

/** One tab of the panel. Tabs without content for a session are hidden. */
interface PanelTab {
  readonly id: string;
  readonly title: string;
  readonly View: ComponentType<Props>;
  /** The panel is wider while this tab is open. */
  readonly isWide?: boolean;
  /** Absent: the tab always shows. */
  isShown?(shown: Props, root: RootState): boolean;
}

/** Large views load when they are first opened. */
const PANEL_TABS: readonly PanelTab[] = [
  { id: 'details', title: 'Details', View: Details },
  {
    id: 'files',
    title: 'Files',
    View: lazy(() => import('../files/files-panel.js').then(({ FilesPanel }) => ({ default: FilesPanel }))),
    isWide: true,
    isShown: ({ state }) => folderOf(state)?.startsWith('file:') === true,
  },
  {
    id: 'changes',
    title: 'Changes',
    View: lazy(() => import('../changes/changes-panel.js').then(({ ChangesPanel }) => ({ default: ChangesPanel }))),
    isWide: true,
    isShown: ({ state, chat }) => changesetsOf(state, chat).length > 0,
  },
  {
    id: 'terminal',
    title: 'Terminal',
    View: lazy(() =>
      import('../terminals/terminal-panel.js').then(({ TerminalPanel }) => ({ default: TerminalPanel })),
    ),
    isWide: true,
    isShown: ({ state }, { terminals }) => terminals !== undefined || folderOf(state) !== undefined,
  },
];

interface TabListProps {
  /** The id of the part below, which the tabs show and hide. */
  readonly id: string;
  readonly tabs: readonly PanelTab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

const TAB_STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** A row of tabs: one stop for the Tab key, arrows walk along. */
function TabList({ id, tabs, chosen, onChoose }: TabListProps) {
  const pressed = (event: KeyboardEvent) => {
    const step = TAB_STEPS[event.key];
    if (step === undefined) return;
    const here = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(here + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Parts of the panel" onKeyDown={pressed}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          id={`${id}-${tab.id}`}
          type="button"
          role="tab"
          className="quiet small"
          aria-selected={tab.id === chosen}
          aria-controls={id}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
        >
          {tab.title}
        </button>
      ))}
    </div>
  );
}

const STEP_PX = 24;
const EDGE_STEPS_PX: Readonly<Record<string, number>> = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX };

/** The edge of the panel: people drag it, or move it with the arrow keys; a double click resets the width. */
function PanelEdge() {
  const edge = useRef<HTMLDivElement>(null);
  const wanted = useStore(panelWidth);
  const [width, setWidth] = useState(WIDTH_MIN_PX);
  const panel = () => edge.current?.parentElement?.getBoundingClientRect() ?? new DOMRect();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is wanted is a reason to look what it became
  useLayoutEffect(() => setWidth(Math.round(panel().width)), [wanted]);
  const dragged = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    if (currentTarget.hasPointerCapture(pointerId)) setPanelWidth(panel().right - clientX);
  };
  const change = (next: number | undefined) => {
    setPanelWidth(next);
    keepPanelWidth();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = EDGE_STEPS_PX[event.key];
    if (step === undefined) return;
    event.preventDefault();
    change(panel().width + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved; this can
    <div
      ref={edge}
      className="panel-edge"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={width}
      aria-valuemin={WIDTH_MIN_PX}
      aria-valuemax={Math.max(width, widthMax())}
      tabIndex={0}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={dragged}
      onPointerUp={keepPanelWidth}
      onDoubleClick={() => change(undefined)}
      onKeyDown={pressed}
    />
  );
}
