"""Network requests of scripts."""

from __future__ import annotations

from urllib.parse import quote

from tests.hostile.target import Target, Vector, script

NO_CORS = "{mode:'no-cors'}"
SHOW = ".catch(e=>document.title='ERR '+e)"


def scripts(target: Target) -> dict[str, Vector]:
    """Return the vectors by name."""
    return _fetches(target) | _channels(target) | _workers(target) | _ceremonies(target)


def _fetches(target: Target) -> dict[str, Vector]:
    url = target.url
    lna = ";".join(
        f"fetch('{url('fetch-lna')}',{{mode:'no-cors',targetAddressSpace:'{space}'}}).catch(e=>0)"
        for space in ("local", "loopback")
    )
    xhr = f"let x=new XMLHttpRequest();x.open('GET','{url('xhr')}');x.send()"
    later = f"try{{fetchLater('{url('fetch-later')}',{{activateAfter:10}})}}catch(e){{}}"
    cors = f"fetch('{url('fetch-cors')}').then(r=>r.text()).then(x=>document.title=x)"
    return {
        "fetch-nocors": script(f"fetch('{url('fetch-nocors')}',{NO_CORS})"),
        "fetch-cors": script(cors),
        "fetch-redirect": script(f"fetch('{target.detour('fetch-redirect')}',{NO_CORS})"),
        "fetch-keepalive": script(f"fetch('{url('fetch-keepalive')}',{{mode:'no-cors',keepalive:true}})"),
        "fetch-later": script(later),
        "fetch-lna": script(lna),
        "xhr": script(xhr),
        "beacon": script(f"navigator.sendBeacon('{url('beacon')}','x')"),
    }


def _channels(target: Target) -> dict[str, Vector]:
    detour = target.detour("domain-ws-redirect").replace("http", "ws", 1)
    return {
        "eventsource": script(f"new EventSource('{target.url('eventsource')}')"),
        "websocket": script(f"new WebSocket('{target.ws_scheme}://{target.authority}/websocket')"),
        "domain-ws-redirect": script(f"new WebSocket('{detour}')"),
    }


def _workers(target: Target) -> dict[str, Vector]:
    url = target.url

    def blob(code: str) -> str:
        return f'URL.createObjectURL(new Blob(["{code}"]))'

    dedicated = f"fetch('{url('worker')}',{NO_CORS});try{{importScripts('{url('worker')}')}}catch(e){{}}"
    shared = f"fetch('{url('sharedworker')}',{NO_CORS})"
    register = f"navigator.serviceWorker.register('/sw.js?to={quote(url('serviceworker'))}')"
    worklet = (
        f"CSS.paintWorklet&&CSS.paintWorklet.addModule('{url('worklet')}').catch(e=>0);"
        f"new AudioContext().audioWorklet.addModule('{url('worklet')}').catch(e=>0)"
    )
    background = (
        "navigator.serviceWorker.register('/sw.js?to=x').then(()=>navigator.serviceWorker.ready)"
        f".then(r=>r.backgroundFetch.fetch('a',['{url('bgfetch')}']))"
    )
    return {
        "worker": script(f"new Worker({blob(dedicated)})"),
        "sharedworker": script(f"new SharedWorker({blob(shared)})"),
        "serviceworker": script(register + SHOW),
        "worklet": script(worklet),
        "bgfetch": script(background + SHOW),
    }


def _ceremonies(target: Target) -> dict[str, Vector]:
    """Return sign-in and payment requests, which the browser itself sends."""
    provider = f"{{configURL:'{target.url('fedcm')}',clientId:'1'}}"
    method = target.url("payment").replace("http:", "https:")
    total = "{total:{label:'a',amount:{currency:'USD',value:'1'}}}"
    key = f"{{challenge:new Uint8Array(16),rpId:'{target.host.strip('[]')}'}}"
    return {
        "fedcm": script(f"navigator.credentials.get({{identity:{{providers:[{provider}]}}}}){SHOW}"),
        "webauthn-ror": script(f"navigator.credentials.get({{publicKey:{key}}}){SHOW}"),
        "payment": script(
            f"try{{new PaymentRequest([{{supportedMethods:'{method}'}}],{total})"
            ".canMakePayment().catch(e=>0)}catch(e){}"
        ),
    }
