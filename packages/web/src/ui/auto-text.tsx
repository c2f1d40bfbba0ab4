/** A text field that grows with its text. Enter sends, Shift+Enter makes a new line. */
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onEnter?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  readonly onBlur?: () => void;
  readonly onPaste?: (event: ClipboardEvent<HTMLTextAreaElement>) => void;
  readonly onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  readonly placeholder?: string;
  readonly id?: string;
  readonly ref?: Ref<HTMLTextAreaElement>;
  readonly className?: string;
  /** Takes the focus when it appears. */
  readonly isFocused?: boolean;
  /** The open list of the field: its id, and that of the option that Enter takes. */
  readonly list?: { readonly id: string; readonly option: string } | undefined;
}

export function AutoText(props: Props) {
  const {
    label,
    value,
    onChange,
    onEnter,
    onBlur,
    onPaste,
    onKeyDown,
    placeholder,
    id,
    ref,
    className,
    isFocused = false,
    list,
  } = props;
  const own = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => own.current as HTMLTextAreaElement);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const field = own.current;
    if (!field) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  }, [value]);
  useEffect(() => {
    if (isFocused) own.current?.focus();
  }, [isFocused]);
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    onKeyDown?.(event);
    // While an input method composes a word, Enter belongs to it.
    if (event.defaultPrevented || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    if (!onEnter) return;
    event.preventDefault();
    onEnter(event);
  };
  return (
    <textarea
      ref={own}
      id={id}
      className={className}
      rows={1}
      aria-label={label}
      aria-autocomplete={list && 'list'}
      aria-controls={list?.id}
      aria-activedescendant={list?.option}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      onBlur={onBlur}
      onPaste={onPaste}
      onKeyDown={pressed}
    />
  );
}
