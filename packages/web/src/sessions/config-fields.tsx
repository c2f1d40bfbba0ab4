/** Fields for a configuration that the host describes: switches, lists, numbers and texts. */
import type { SessionConfigPropertySchema, SessionConfigState } from '@atrium/protocol';
import { useId } from 'react';

interface Props {
  readonly config: SessionConfigState | undefined;
  readonly onChange: (values: SessionConfigState['values']) => void;
  /** Of a session that exists already, only some can be changed. */
  readonly isRunning?: boolean;
}

export function ConfigFields({ config, onChange, isRunning = false }: Props) {
  if (!config) return null;
  const { schema, values } = config;
  const set = (name: string, value: unknown) => onChange(isRunning ? { [name]: value } : { ...values, [name]: value });
  return Object.entries(schema.properties)
    .filter(([, { readOnly, sessionMutable }]) => !readOnly && (!isRunning || sessionMutable))
    .map(([name, property]) => (
      <Field
        key={name}
        property={property}
        value={values[name] ?? property.default}
        onChange={(value) => set(name, value)}
      />
    ));
}

interface FieldProps {
  readonly property: SessionConfigPropertySchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function Field({ property, value, onChange }: FieldProps) {
  const id = useId();
  const { type, title, description, enum: choices, enumLabels } = property;
  if (type === 'boolean')
    return (
      <label className="check" title={description}>
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        <span>{title}</span>
      </label>
    );
  if (choices)
    return (
      <>
        <label htmlFor={id}>{title}</label>
        <select id={id} value={String(value ?? '')} onChange={(event) => onChange(event.target.value)}>
          {choices.map((choice, index) => (
            <option key={choice} value={choice}>
              {enumLabels?.[index] ?? choice}
            </option>
          ))}
        </select>
      </>
    );
  if (type !== 'string' && type !== 'number') return null;
  return (
    <>
      <label htmlFor={id}>{title}</label>
      <input
        id={id}
        type={type === 'number' ? 'number' : 'text'}
        defaultValue={value === undefined ? '' : String(value)}
        onBlur={({ target }) => onChange(type === 'number' ? Number(target.value) : target.value)}
      />
    </>
  );
}
