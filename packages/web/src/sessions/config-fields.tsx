/** Fields for a configuration that the host describes: switches, lists, numbers and texts. */
import type { SessionConfigPropertySchema, SessionConfigState } from '@atrium/protocol/ahp-1';
import { type FocusEvent, type KeyboardEvent, useId } from 'react';
import { SuggestInput } from '../ui/suggest-input.js';
import type { LookUp } from './use-session-config.js';

interface Props {
  readonly config: SessionConfigState | undefined;
  /** Called with the changed values. */
  readonly onChange: (values: SessionConfigState['values']) => void;
  /** True for an existing session, in which only some settings can change. */
  readonly isRunning?: boolean;
  /** Finds values for settings with too many to list. */
  readonly lookUp?: LookUp;
}

export function ConfigFields({ config, onChange, isRunning = false, lookUp }: Props) {
  if (!config) return null;
  const { schema, values } = config;
  return Object.entries(schema.properties)
    .filter(([, { readOnly, sessionMutable }]) => !readOnly && (!isRunning || sessionMutable))
    .map(([name, property]) => (
      <Field
        key={name}
        name={name}
        property={property}
        value={values[name] ?? property.default}
        onChange={(value) => onChange({ [name]: value })}
        lookUp={lookUp}
        isExplained={isRunning}
      />
    ));
}

interface FieldProps {
  readonly name: string;
  readonly property: SessionConfigPropertySchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly lookUp: LookUp | undefined;
  /** Shows the description, because other settings have similar names. */
  readonly isExplained: boolean;
}

function Field({ name, property, value, onChange, lookUp, isExplained }: FieldProps) {
  const id = useId();
  const { type, title, description, enum: choices, enumDynamic } = property;
  if (type === 'boolean')
    return (
      <label className="check" title={description}>
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        <span>
          {title}
          {isExplained && description !== undefined && <small className="hint">{description}</small>}
        </span>
      </label>
    );
  if (type !== 'string' && type !== 'number') return null;
  const text = value === undefined ? '' : String(value);
  const isLookedUp = enumDynamic && lookUp;
  return (
    <>
      <label htmlFor={id} title={description}>
        {title}
      </label>
      {isLookedUp && <SuggestInput id={id} value={text} onChange={onChange} suggest={(query) => lookUp(name, query)} />}
      {!isLookedUp && choices && <ChoiceSelect id={id} property={property} value={text} onChange={onChange} />}
      {!isLookedUp && !choices && (
        <Typed key={text} id={id} isNumber={type === 'number'} text={text} onChange={onChange} />
      )}
    </>
  );
}

interface TypedProps extends Pick<FieldProps, 'onChange'> {
  readonly id: string;
  readonly isNumber: boolean;
  readonly text: string;
}

/** Reports its value on blur, and only if it changed. */
function Typed({ id, isNumber, text, onChange }: TypedProps) {
  const left = ({ target }: FocusEvent<HTMLInputElement>) => {
    if (target.value === text) return;
    if (!isNumber) onChange(target.value);
    else if (Number.isFinite(target.valueAsNumber)) onChange(target.valueAsNumber);
    else target.value = text;
  };
  const pressed = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'Enter') return;
    // Otherwise the form around it would be sent without the typed text.
    event.preventDefault();
    event.currentTarget.blur();
  };
  return <input id={id} type={isNumber ? 'number' : 'text'} defaultValue={text} onBlur={left} onKeyDown={pressed} />;
}

interface ChoiceSelectProps extends Pick<FieldProps, 'property' | 'onChange'> {
  readonly id: string;
  readonly value: string;
}

function ChoiceSelect({ id, property, value, onChange }: ChoiceSelectProps) {
  const { enum: choices = [], enumLabels, enumDescriptions } = property;
  const about = enumDescriptions?.[choices.map(String).indexOf(value)];
  return (
    <>
      <select
        id={id}
        value={value}
        aria-describedby={about && `${id}-about`}
        onChange={(event) => onChange(choices[event.target.selectedIndex])}
      >
        {choices.map((choice, index) => (
          <option key={String(choice)} value={String(choice)}>
            {enumLabels?.[index] ?? String(choice)}
          </option>
        ))}
      </select>
      {about && (
        <p className="hint choice-about" id={`${id}-about`}>
          {about}
        </p>
      )}
    </>
  );
}
