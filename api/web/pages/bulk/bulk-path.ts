/** Address of the page of a job. */
export const jobPath = (jobId: string): `/${string}` => `/app/bulk/${jobId}`;
