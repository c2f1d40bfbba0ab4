/** The input of a tool: to read, and to change before it runs. */
import { AutoText } from '../ui/auto-text.js';
import { membersOf, withMember } from './tool-input.js';

export function InputView({ input }: { readonly input: string }) {
  const members = membersOf(input);
  if (members.length === 0) return null;
  return (
    <dl className="tool-input" tabIndex={0}>
      {members.map(({ name, text }) => (
        <div key={name}>
          {name !== '' && <dt>{name}</dt>}
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

interface EditorProps {
  readonly input: string;
  readonly onChange: (input: string) => void;
}

/** One field for every text; numbers, lists and the like stay as they are. Without any text: the whole as it is. */
export function InputEditor({ input, onChange }: EditorProps) {
  const texts = membersOf(input).filter(({ isText }) => isText);
  if (texts.length === 0) return <AutoText className="mono" label="Input" value={input} onChange={onChange} />;
  return (
    <div className="input-editor">
      {texts.map(({ name, text }) => (
        <div key={name}>
          {name !== '' && <p className="hint">{name}</p>}
          <AutoText
            className="mono"
            label={name || 'Input'}
            value={text}
            onChange={(value) => onChange(withMember(input, name, value))}
          />
        </div>
      ))}
    </div>
  );
}
