/** Icons, buttons with only an icon, and the logo. An icon never says more than the word beside it. */

const PATHS = {
  plus: 'M12 5v14M5 12h14',
  chat: 'M4 5h16v11H11l-5 4v-4H4zM12 8v5M9.5 10.5h5',
  aside: 'M4 5h10v8H9l-3 3v-3H4zM17 9h3v8h-2v3l-3-3h-5v-2',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4',
  back: 'M15 5l-7 7 7 7',
  panel: 'M4 5h16v14H4zM15 5v14',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  close: 'M6 6l12 12M18 6L6 18',
  chevron: 'M9 6l6 6-6 6',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  fork: 'M7 4v9a4 4 0 0 0 4 4h6M17 17l-3-3M17 17l-3 3M7 20v-3',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  settings: 'M4 7h9M17 7h3M15 5v4M4 12h3M11 12h9M9 10v4M4 17h9M17 17h3M15 15v4',
  share: 'M12 15V4M8 8l4-4 4 4M5 13v6h14v-6',
  tool: 'M14 6a4 4 0 0 0 5 5l-8 8a2.1 2.1 0 0 1-3-3l8-8a4 4 0 0 0-2-2z',
  check: 'M5 12l5 5 9-10',
  folder: 'M3 6h6l2 2h10v11H3z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  terminal: 'M4 5h16v14H4zM8 10l3 2.5-3 2.5M13 15h4',
  rewind: 'M9 5L4 10l5 5M4 10h10a5 5 0 0 1 0 10h-3',
  board: 'M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v11h-4z',
  refresh: 'M19 12a7 7 0 1 1-2-5M19 4v4h-4',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  ring: 'M12 4a8 8 0 1 1-8 8',
  hand: 'M12 7.5V13M12 16.5v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  chart: 'M5 20V11M12 20V4M19 20v-6M3 20h18',
  pin: 'M9 4h6l-1 6 4 3v2H6v-2l4-3zM12 15v5',
  select: 'M4 4h6v6H4zM4 14h6v6H4zM14 7l2 2 4-4M14 17h6',
  'text-search': 'M4 6h16M4 11h7M4 16h5M16 19a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM21 21l-2-2',
  attach: 'M8 12l6-6a3.5 3.5 0 0 1 5 5l-8 8a5 5 0 0 1-7-7l8-8M8 12a2 2 0 0 0 3 3l5-5',
  camera: 'M4 8h4l2-3h4l2 3h4v11H4zM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly isPressed?: boolean;
  /** For a button that opens something. */
  readonly isExpanded?: boolean;
  readonly className?: string;
}

/** A button with only an icon; screen readers and the tooltip give its name. */
export function IconButton({ icon, label, onClick, isPressed, isExpanded, className = '' }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      aria-expanded={isExpanded}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The logo. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 24V14a8 8 0 0 1 16 0v10M13 24v-8a3 3 0 0 1 6 0v8" />
    </svg>
  );
}
