import type { User } from '../../identity/auth/schema.js';
import type { DomainError } from '../../platform/errors.js';
import type { View } from '../page.js';
import { plainMessage } from '../wording/plain-message.js';

const KNOWN: Readonly<Record<number, { heading: string; text?: string }>> = {
  403: { heading: 'Access denied' },
  404: { heading: 'Page not found', text: 'This page does not exist, or you have no access.' },
  405: { heading: 'Method not allowed', text: 'Unsupported method.' },
  429: { heading: 'Too many requests' },
  500: { heading: 'Something went wrong', text: 'An internal error occurred. Please try again.' },
  503: {
    heading: 'Temporarily unavailable',
    text: 'A dependency is unavailable. Try again in a few seconds.',
  },
};

/** Returns the message of an error, with what is wrong with each field. */
const sayWhy = ({ message, detail }: DomainError): string =>
  typeof detail === 'object' ? [message, ...detail.errors.map((each) => each.message)].join('. ') : message;

/** Renders an error as a page. */
export function errorView(error: DomainError, correlationId: string, me: User | null): View {
  const { heading = 'Request failed', text = plainMessage(sayWhy(error), me) } =
    KNOWN[error.status] ?? (error.status >= 500 ? KNOWN[500] : undefined) ?? {};
  const detail = error.status === 429 && typeof error.detail === 'string' ? error.detail : undefined;
  return {
    view: 'error',
    title: heading,
    status: error.status,
    data: { heading, text: detail ?? text, status: error.status, correlationId },
  };
}
