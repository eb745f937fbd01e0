import type { DomainError } from '../../core/errors.js';
import type { View } from '../page.js';

const KNOWN: Readonly<Record<number, { heading: string; text?: string }>> = {
  403: { heading: 'Not for you' },
  404: { heading: 'Nothing here', text: 'This page does not exist, or it is not yours to see.' },
  405: { heading: 'Not like this', text: 'This address does not take that kind of request.' },
  429: { heading: 'A little slower' },
  500: { heading: 'That is on us', text: 'Something went wrong on our side, and it has been written down.' },
  503: { heading: 'Back in a moment', text: 'Something we need is away. Nothing was changed; try again in a few seconds.' },
};

/** A refusal as a page of its own. */
export function errorView(error: DomainError, correlationId: string): View {
  const { heading = 'Not done', text = error.message } =
    KNOWN[error.status] ?? (error.status >= 500 ? KNOWN[500] : undefined) ?? {};
  const detail = error.status === 429 && typeof error.detail === 'string' ? error.detail : undefined;
  return {
    view: 'error',
    title: heading,
    status: error.status,
    data: { heading, text: detail ?? text, status: error.status, correlationId },
  };
}
