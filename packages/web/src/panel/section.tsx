/** Sections of the details: a heading with its content, and a switch. */
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly count?: number;
  readonly children: ReactNode;
}

export function Section({ title, count, children }: Props) {
  return (
    <section className="panel-section">
      <h3>
        {title}
        {count !== undefined && count > 0 && <span className="count">{count}</span>}
      </h3>
      {children}
    </section>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** On or off. */
export function Switch({ label, isOn, onChange }: SwitchProps) {
  return (
    <button
      type="button"
      className="switch"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      title={label}
      onClick={() => onChange(!isOn)}
    >
      <span />
    </button>
  );
}
