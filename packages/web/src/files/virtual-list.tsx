/**
 * A list that draws only its visible rows, for folders with ten thousand entries. It is one stop for the Tab key;
 * arrows, Home,
 * End and the page keys walk through it, letters jump to names, Enter opens.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';

const ROW_PX = 30;
const OVERSCAN_ROWS = 8;
const PAGE_ROWS = 10;

interface RowProps {
  /** The level in a tree, from 1 on. */
  readonly level?: number;
  /** Undefined for a row that cannot be unfolded. */
  readonly isOpen?: boolean | undefined;
}

interface Props {
  readonly label: string;
  /** The names that letters jump to. */
  readonly names: readonly string[];
  readonly active: number;
  readonly onActive: (index: number) => void;
  readonly onOpen: (index: number) => void;
  /** Handles other keys; returns true if the key was for the list. */
  readonly onKey?: (key: string, index: number) => boolean;
  readonly row: (index: number) => ReactNode;
  readonly rowProps?: (index: number) => RowProps;
}

export function VirtualList(props: Props) {
  const { label, names, active, onActive, onOpen, row, rowProps } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: names.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
  });
  const goTo = (index: number) => {
    onActive(index);
    list.scrollToIndex(index);
  };
  const pressed = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || names.length === 0) return;
    const next = stepTo(key, active, names);
    if (next !== undefined) goTo(next);
    else if (key === 'Enter') onOpen(active);
    else if (!props.onKey?.(key, active)) return;
    event.preventDefault();
    // The page's own letters must not fire while the list has the focus.
    event.stopPropagation();
  };
  return (
    <div
      ref={box}
      className="virtual-list"
      role="tree"
      aria-label={label}
      aria-activedescendant={names.length > 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={pressed}
    >
      <div className="virtual-rows" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const { level = 1, isOpen } = rowProps?.(index) ?? {};
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the list
            <div
              key={index}
              id={`${id}-${index}`}
              className="virtual-row"
              role="treeitem"
              aria-selected={index === active}
              aria-level={level}
              aria-expanded={isOpen}
              aria-setsize={names.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              onClick={() => {
                onActive(index);
                onOpen(index);
              }}
            >
              {row(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The index that a key leads to; undefined for other keys. */
export function stepTo(key: string, active: number, names: readonly string[]): number | undefined {
  const last = names.length - 1;
  const within = (index: number) => Math.min(last, Math.max(0, index));
  if (key === 'ArrowDown') return within(active + 1);
  if (key === 'ArrowUp') return within(active - 1);
  if (key === 'PageDown') return within(active + PAGE_ROWS);
  if (key === 'PageUp') return within(active - PAGE_ROWS);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key.length !== 1 || key === ' ') return undefined;
  const begins = (name: string) => name.toLowerCase().startsWith(key.toLowerCase());
  const below = names.findIndex((name, index) => index > active && begins(name));
  const found = below === -1 ? names.findIndex(begins) : below;
  return found === -1 ? undefined : found;
}
