"""Connections other than HTTP over TCP: WebRTC, WebTransport, alternative services."""

from __future__ import annotations

from tests.hostile.target import Target, Vector, script

RTC_HOLD_S = 4.0
TURN_HOLD_S = 9.0
"""Seconds. TURN over TCP is tried only after the others have timed out."""

OFFER = "p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))"


def other_protocols(target: Target) -> dict[str, Vector]:
    """Return the vectors by name."""
    return _ice_servers(target) | _peers(target) | _services(target)


def _ice_servers(target: Target) -> dict[str, Vector]:
    servers = {
        "rtc-stun-udp": f"stun:{target.host}:{target.udp_port}",
        "rtc-turn-udp": f"turn:{target.host}:{target.udp_port}?transport=udp",
        "rtc-turn-tcp": f"turn:{target.host}:{target.port}?transport=tcp",
        "rtc-turns": f"turns:{target.host}:{target.port}?transport=tcp",
        "rtc-stun-name": "stun:leak1.example.org:3478",
    }
    return {
        name: script(
            f"let p=new RTCPeerConnection({{iceServers:[{{urls:'{url}',username:'{name}',credential:'b'}}]}});" + OFFER,
            hold_s=TURN_HOLD_S if "turn" in name else RTC_HOLD_S,
        )
        for name, url in servers.items()
    }


def _peers(target: Target) -> dict[str, Vector]:
    show = "p.onicecandidate=e=>{if(e.candidate)document.title+=' '+e.candidate.candidate};"
    return {
        "rtc-candidate": script(_connect_to(target), hold_s=RTC_HOLD_S),
        "rtc-leak": script("let p=new RTCPeerConnection();" + show + OFFER, hold_s=RTC_HOLD_S),
    }


def _connect_to(target: Target) -> str:
    """Return a script with two peers; one receives the canary's address as its own."""
    udp = f"1 1 udp 2113937151 127.0.0.1 {target.udp_port} typ host"
    tcp = f"2 1 tcp 1518214911 127.0.0.1 {target.port} typ host tcptype passive"
    lines = f"a=candidate:{udp}\\r\\na=candidate:{tcp}\\r\\na=end-of-candidates\\r\\n"
    return f"""(async()=>{{
let p=new RTCPeerConnection(),q=new RTCPeerConnection();
p.createDataChannel('x');
await p.setLocalDescription(await p.createOffer());
await q.setRemoteDescription(p.localDescription);
await q.setLocalDescription(await q.createAnswer());
let s=q.localDescription.sdp.replace(/a=candidate.*\\r\\n/g,'');
s=s.replace(/a=end-of-candidates\\r\\n/,'')+'{lines}';
await p.setRemoteDescription({{type:'answer',sdp:s}});
for(let c of ['candidate:{udp}','candidate:{tcp}'])
  p.addIceCandidate({{candidate:c,sdpMid:'0',sdpMLineIndex:0}});
}})()"""


def _services(target: Target) -> dict[str, Vector]:
    hashes = "{serverCertificateHashes:[{algorithm:'sha-256',value:new Uint8Array(32)}]}"
    transport = f"new WebTransport('https://{target.host}:{target.udp_port}/webtransport',{hashes})"
    alternatives = f'h3="127.0.0.1:{target.udp_port}"; ma=600, h2="127.0.0.1:{target.port}"; ma=600'
    return {
        "webtransport": script(f"try{{{transport}}}catch(e){{document.title='ERR '+e}}", hold_s=RTC_HOLD_S),
        "alt-svc": script("setTimeout(()=>location.reload(),300)", headers={"Alt-Svc": alternatives}),
    }
