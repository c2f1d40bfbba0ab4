/** A menu behind a button: opened by click, touch or key, walked with the arrows, closed with Escape. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon, IconButton, type IconName } from './icons.js';

export interface MenuItem {
  readonly title: string;
  readonly icon: IconName;
  readonly isDangerous?: boolean;
  run(): void;
}

interface Props {
  readonly label: string;
  readonly items: readonly MenuItem[];
}

const GAP_PX = 4;

export function MenuButton({ label, items }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const close = (isFocusBack: boolean) => {
    setOpen(false);
    if (isFocusBack) box.current?.querySelector('button')?.focus();
  };
  return (
    <span ref={box} className="menu-button">
      <IconButton icon="more" label={label} isExpanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && <Menu label={label} items={items} onClose={close} />}
    </span>
  );
}

interface MenuProps extends Props {
  readonly onClose: (isFocusBack: boolean) => void;
}

function Menu({ label, items, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = menu.current;
    const button = box?.parentElement?.getBoundingClientRect();
    if (!box || !button) return;
    const { width, height } = box.getBoundingClientRect();
    const isBelow = button.bottom + GAP_PX + height < innerHeight;
    box.style.top = `${isBelow ? button.bottom + GAP_PX : Math.max(GAP_PX, button.top - GAP_PX - height)}px`;
    box.style.left = `${Math.max(GAP_PX, Math.min(innerWidth - width - GAP_PX, button.right - width))}px`;
    box.querySelector('button')?.focus();
  }, []);
  useEffect(() => {
    const outside = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.parentElement?.contains(event.target);
      if (!isInside) onClose(false);
    };
    addEventListener('pointerdown', outside);
    addEventListener('scroll', outside, true);
    return () => {
      removeEventListener('pointerdown', outside);
      removeEventListener('scroll', outside, true);
    };
  }, [onClose]);
  const pressed = (event: KeyboardEvent) => {
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])];
    const here = buttons.findIndex((button) => button.matches(':focus'));
    const next = NEXT[event.key]?.(here, buttons.length);
    if (event.key === 'Escape' || event.key === 'Tab') onClose(true);
    if (next !== undefined) buttons[next]?.focus();
    // Outside the menu, letters are commands of the page.
    event.stopPropagation();
    if (next !== undefined || event.key === 'Escape') event.preventDefault();
  };
  return (
    <div ref={menu} className="menu" role="menu" tabIndex={-1} aria-label={label} onKeyDown={pressed}>
      {items.map(({ title, icon, isDangerous, run }) => (
        <button
          key={title}
          type="button"
          role="menuitem"
          className={`quiet ${isDangerous ? 'problem' : ''}`}
          onClick={() => {
            onClose(true);
            run();
          }}
        >
          <Icon name={icon} /> {title}
        </button>
      ))}
    </div>
  );
}

const NEXT: Readonly<Record<string, (here: number, count: number) => number>> = {
  ArrowDown: (here, count) => (here + 1) % count,
  ArrowUp: (here, count) => (here - 1 + count) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};
