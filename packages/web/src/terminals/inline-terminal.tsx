/** A terminal inside a tool call. Its view loads with the first one on the screen. */
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useState } from 'react';

interface Props {
  readonly uri: string;
  readonly title: string;
  /** The output as text: shown until the terminal has loaded, and if it is gone. */
  readonly children: ReactNode;
}

let view: LazyExoticComponent<ComponentType<Props>> = lazyView();

/** If the view cannot load because the host is gone, this call stays text, and the next one tries again. */
function lazyView(): LazyExoticComponent<ComponentType<Props>> {
  return lazy(
    (): Promise<{ default: ComponentType<Props> }> =>
      import('./inline-view.js').then(
        ({ InlineView }) => ({ default: InlineView }),
        () => {
          view = lazyView();
          return { default: ({ children }) => children };
        },
      ),
  );
}

export function InlineTerminal(props: Props) {
  const [View] = useState(() => view);
  return (
    <Suspense fallback={props.children}>
      <View {...props} />
    </Suspense>
  );
}
