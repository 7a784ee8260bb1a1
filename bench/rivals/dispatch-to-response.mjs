/** undici's callbacks for one exchange, written straight to Node's response. */
export function dispatchToResponse(response) {
  let controller;
  response.on('close', () => {
    if (!response.writableFinished) controller?.abort(new Error('the browser left'));
  });
  return {
    onRequestStart: (started) => (controller = started),
    onResponseStart: (_controller, status, headers) => {
      response.statusCode = status;
      for (const name of ['content-type', 'content-length']) {
        if (headers[name] !== undefined) response.setHeader(name, headers[name]);
      }
    },
    onResponseData: (started, chunk) => {
      if (response.write(chunk)) return;
      started.pause();
      response.once('drain', () => started.resume());
    },
    onResponseEnd: () => response.end(),
    onResponseError: () => response.destroy(),
  };
}
