/** A button that is only a picture; its name is for screen readers and for those who wait with the mouse. */
import { Icon, type IconName } from './icons.js';

interface Props {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly isPressed?: boolean;
  readonly className?: string;
}

export function IconButton({ icon, label, onClick, isPressed, className = '' }: Props) {
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
