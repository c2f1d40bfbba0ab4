/** Keeps a mistake in one part of the page from taking the rest with it, and says what to do. */
import { Component, type ReactNode } from 'react';

interface Props {
  /** The name of this part, at the beginning of a sentence. */
  readonly what: string;
  readonly children: ReactNode;
}

export class Boundary extends Component<Props, { readonly why: string | undefined }> {
  override readonly state = { why: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { why: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    const { why } = this.state;
    if (why === undefined) return this.props.children;
    return (
      <div className="turn-error" role="alert">
        <p>
          <b>{this.props.what} cannot be shown.</b> {why}
        </p>
        <p className="hint">Nothing is lost: everything is in the host.</p>
        <button type="button" className="small" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  }
}
