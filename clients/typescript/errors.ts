import type { ErrorBody, ErrorCode } from './types.js';

/** An error response of the service. */
export class AssentError extends Error {
  override readonly name = 'AssentError';

  constructor(
    readonly status: number,
    /** Undefined if the response came from elsewhere, such as a proxy. */
    readonly body: ErrorBody | undefined,
    readonly headers: Headers,
  ) {
    super(body?.message ?? `HTTP ${status}`);
  }

  get errorCode(): ErrorCode | undefined {
    return this.body?.error_code;
  }

  /** Invalid fields of a 422, otherwise empty. */
  get fields(): { field: string; message: string; type: string }[] {
    const detail = this.body?.detail;
    return typeof detail === 'object' ? detail.errors : [];
  }

  /** Quote it when you ask for support. */
  get correlationId(): string | undefined {
    return this.body?.correlation_id ?? this.headers.get('X-Correlation-ID') ?? undefined;
  }
}

/** Returns the error of a response that is no success. */
export async function buildError(response: Response): Promise<AssentError> {
  const body: unknown = await response.json().catch(() => undefined);
  const isOurs = typeof body === 'object' && body !== null && 'error_code' in body;
  return new AssentError(response.status, isOurs ? (body as ErrorBody) : undefined, response.headers);
}
